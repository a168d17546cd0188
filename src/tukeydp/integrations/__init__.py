"""tukeydp inside other libraries: one folder for each, none of them imported unless asked for."""
