"""For nbgrader's own way: what it makes and runs is what `make` makes."""

c = get_config()  # noqa: F821  given by nbgrader
c.CourseDirectory.course_id = "inside-the-transformer"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError  # yours"}
c.ExecutePreprocessor.timeout = 600
