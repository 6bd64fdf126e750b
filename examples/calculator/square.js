// Written in JavaScript: the square of the distance, by the functions of the calculator alone.
function calculate(x, y) {
        return host.add(host.mul(x, x), host.mul(y, y));
}
