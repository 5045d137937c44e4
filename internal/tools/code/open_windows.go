package code

// nonblock has no meaning here: opening never waits.
const nonblock = 0
