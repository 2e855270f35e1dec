"""The layouts of published models' files: a table for each kind (chapter 7)."""
