void f(float y[8]) {
}
