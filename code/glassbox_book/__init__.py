"""Material for the chapters: attention views, figures, widgets, questions, exercises."""
