float y[8];
