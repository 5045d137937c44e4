package search

const noWaitNoFollow = 0
