"""What the caller has becomes integers: tables, files, the public grid."""
