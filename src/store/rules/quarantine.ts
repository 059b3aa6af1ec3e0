/** After this many failed attempts in a row to load it, a session is quarantined until an operator releases it. */
export const MAX_HYDRATION_FAILURES = 3;
