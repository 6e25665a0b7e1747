[(body) (loop_body) (case_body) (comment)] @fold
