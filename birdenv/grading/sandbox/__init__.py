"""Running a benchmark's test cases (Python source) in a confined child process."""
