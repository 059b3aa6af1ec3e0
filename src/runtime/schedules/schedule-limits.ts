/** The most runs of a schedule that wait for their turn. Further ones are skipped. */
export const MAX_DUE_RUNS = 50;
