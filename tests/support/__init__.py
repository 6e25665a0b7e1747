"""What the tests are made with: programs, schedules, planted faults, comparisons."""
