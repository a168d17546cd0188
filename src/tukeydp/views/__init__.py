"""A release as people use it: by column name, as a table, as text, HTML or a data frame."""
