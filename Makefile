PYTHON ?= python3
PORT ?= 8000
BIN := .venv/bin

.PHONY: book test check browsers battery experiments paths refresh rename renumber lint serve pdf slides assignments grades nbgrader questions colab portable help

help:
	@echo "make book         build the site, in _build/html"
	@echo "make test         run every notebook and compare; then tests/: 4 minutes"
	@echo "                  (CHAPTER=04 for what concerns one: its time and 20 s)"
	@echo "make check        no notebook, no browser: 40 seconds"
	@echo "make browsers     the site in Chromium, Firefox and WebKit (ENGINE=webkit for"
	@echo "                  one); what is not installed is named"
	@echo "make refresh      write what is generated, run every notebook in place"
	@echo "                  (CHAPTER=04 to run one)"
	@echo "make rename       OLD=softmax NEW=soft_max: a function, everywhere"
	@echo "make renumber     AT=09: 09 and later ones move by one; NEW=topic puts a"
	@echo "                  stub of a chapter there"
	@echo "make battery      thousands of wrong answers: is each refused? (CHAPTER=04)"
	@echo "make experiments  the longer runs behind some tables (CHAPTER=08 for one)"
	@echo "make lint         ruff, spelling, types, rights of the workflows; words,"
	@echo "                  lines, minutes and prose of each chapter (CHAPTER=04)"
	@echo "make serve        the site at http://localhost:$(PORT)"
	@echo "make pdf          the book on paper, in _build/paper: 2 minutes"
	@echo "                  (CHAPTER=04 for a handout, PAPER=letter for the US)"
	@echo "make slides       a lecture a chapter, in _build/slides (CHAPTER=04 for one;"
	@echo "                  SOURCE=mine.md: from a source that you changed)"
	@echo "make assignments  student editions, in release/ of a folder outside the"
	@echo "                  clone, which COURSE_FOLDER=... names (CHAPTER=04 for one;"
	@echo "                  ONLY=4.2,4.3 DUE=2027-01-15 TERM=2027s: a homework sheet;"
	@echo "                  FOR=otter: with tests for otter-grader)"
	@echo "make grades       grade CHAPTER=04 of SUBMISSIONS=folder-or-zip"
	@echo "make nbgrader     set up nbgrader, to grade its own way"
	@echo "make questions    quiz questions for Moodle, in _build/questions"
	@echo "                  (CHAPTER=04 for one)"
	@echo "make colab        run the notebooks with the versions that Colab has"
	@echo "make portable     run them as other processors would (CHAPTER=04 for one)"
	@echo "make paths        run the lectures of the pages for teachers as written"

# A failed build forgets what it read: the next one repeats every warning.
book: .venv/ready
	@$(BIN)/jupyter-book build . -W -n --keep-going \
	  || { rm -rf _build/.doctrees; exit 1; }
	@echo "Read it: file://$(CURDIR)/_build/html/index.html  (or: make serve)"

test: .venv/ready
	@$(BIN)/python -m pytest $(if $(CHAPTER),--chapter $(CHAPTER))

check: .venv/ready
	@$(BIN)/python -m pytest $(if $(CHAPTER),--chapter $(CHAPTER)) tests \
	  $(addprefix --ignore tests/site/test_,pages.py predictions.py \
	    search.py glossary.py paper.py explorables.py inside.py) \
	  --ignore tests/teaching/test_nbgrader.py

# Each engine has a worker of its own.
browsers: .venv/ready .venv/browsers
	@$(BIN)/python -m pytest tests/site/engines -rs --dist loadgroup \
	  $(if $(ENGINE),-k $(ENGINE))

battery: .venv/ready
	@$(BIN)/python -m tools.battery $(CHAPTER)

experiments: .venv/ready
	@$(BIN)/python -m experiments $(CHAPTER)

paths: .venv/ready
	@$(BIN)/python -m tools.run.lectures

refresh: .venv/ready
	@$(BIN)/python -m tools.refresh $(CHAPTER)

rename: .venv/ready
	@$(BIN)/python -m tools.rename $(OLD) $(NEW)

renumber: .venv/ready
	@$(BIN)/python -m tools.renumber $(AT) $(if $(NEW),--new $(NEW))

lint: .venv/ready
	@$(BIN)/ruff check .
	@$(BIN)/codespell . .github/
	@$(BIN)/python -W error -m mypy course
	@$(BIN)/zizmor --offline -q --min-severity=medium .github
	@$(BIN)/python -m tools.form $(CHAPTER)

serve: book
	@echo "http://localhost:$(PORT)  (stop with Ctrl-C)"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 -d _build/html

pdf: book
	@$(BIN)/python -m tools.paper $(CHAPTER) --paper $(or $(PAPER),a4)

slides: .venv/ready
	@$(BIN)/python -m tools.slides $(CHAPTER) \
	  $(if $(SOURCE),--source "$(SOURCE)")

# COURSE_FOLDER, given to make, is in the environment of both programs.
assignments: .venv/ready
	@$(BIN)/python -m tools.homework $(CHAPTER) \
	  $(if $(ONLY),--only "$(ONLY)") $(if $(DUE),--due "$(DUE)") \
	  $(if $(filter command,$(origin TERM)),--term "$(TERM)") \
	  $(if $(FOR),--for "$(FOR)")

grades: .venv/ready
	@$(BIN)/python -m tools.grading "$(CHAPTER)" "$(SUBMISSIONS)" \
	  $(if $(GRADEBOOK),--gradebook "$(GRADEBOOK)") \
	  $(if $(COLUMN),--column "$(COLUMN)") \
	  $(if $(EDITION),--edition "$(EDITION)") \
	  $(if $(AGAIN),--again "$(AGAIN)") \
	  $(if $(LIMIT),--seconds $(LIMIT)) $(if $(SANDBOX),--sandbox $(SANDBOX))

nbgrader: .nbgrader/ready

questions: .venv/ready
	@$(BIN)/python -m tools.quiz $(CHAPTER)

colab: .venv/ready .colab/ready
	@$(BIN)/python -m tools.run.colab

portable: .venv/ready
	@$(BIN)/python -m tools.run.portable $(CHAPTER)

.venv/ready: requirements.txt constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; v < (3, 11) and sys.exit("$(PYTHON) is Python %d.%d: this course needs 3.11 or newer. Name one: make $(MAKECMDGOALS) PYTHON=python3.12" % v[:2])'
	@echo "Setting up .venv: once, a few minutes."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -r requirements.txt
	@touch $@

.venv/browsers: .venv/ready tests/site/engines/requirements.txt
	@$(BIN)/python -m pip install -r tests/site/engines/requirements.txt
	@touch $@

# More than 100 packages, kept apart from the course's own.
.nbgrader/ready: .venv/ready tools/homework/nbgrader/requirements.txt
	@echo "Setting up .nbgrader: once, a minute."
	@$(PYTHON) -m venv .nbgrader
	@.nbgrader/bin/python -m pip install -r tools/homework/nbgrader/requirements.txt
	@JUPYTER_PATH=.nbgrader/share/jupyter \
	  $(BIN)/python -m ipykernel install --prefix .nbgrader  # grades with torch
	@touch $@

.colab/ready: tools/run/colab.txt
	@$(PYTHON) -m venv .colab
	@.colab/bin/python -m pip install -r tools/run/colab.txt
	@.colab/bin/python -m ipykernel install --prefix .colab --name colab
	@touch $@
