"""What a search knows before its first trial: trials of its record (`belief`), times of earlier runs on the
device for the cost model (`learned`, `experience`), and points that won elsewhere (`suggestions`)."""
