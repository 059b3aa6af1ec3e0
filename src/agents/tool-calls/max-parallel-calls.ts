/** The most calls of one answer that run. Each call above it gets an error as its result. */
export const MAX_PARALLEL_CALLS = 64;

/** The error that the model reads as the result of a call above the limit. */
export const TOO_MANY_CALLS: string = `Too many calls in one answer: only the first ${MAX_PARALLEL_CALLS} were run. Call this one again.`;
