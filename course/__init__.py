"""What the book is made of: the only code that reads its chapters."""
