/** A session that could not be hydrated this often in a row is left alone until someone looks at it. */
export const MAX_HYDRATION_FAILURES = 3;
