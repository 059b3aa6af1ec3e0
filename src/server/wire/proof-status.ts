/** The statuses of a proof. `interrupted`: its server ended before the proof did. */
export const PROOF_STATUSES = [
  'queued',
  'running',
  'done',
  'failed',
  'canceled',
  'interrupted',
] as const;
