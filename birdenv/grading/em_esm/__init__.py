"""The EM/ESM pipeline's grader: exact match and structural match of SQL texts."""
