import mdh.target.nvrtc as door

kept = door._library_files
door._library_files = list
try:
    door._library.__wrapped__()
finally:
    door._library_files = kept
