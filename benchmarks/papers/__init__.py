"""A table or figure of each paper that KeyRoute's planners come from, on data that we have.

`python -m papers` writes all of them; `README.md` says what each is and how it differs.
"""
