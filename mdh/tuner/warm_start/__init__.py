"""What a search knows before its first trial: trials of its record (`belief`), times of earlier runs on the
device for the cost model (`learned`), and points that won elsewhere (`suggestions`)."""
