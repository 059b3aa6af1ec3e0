import { PetrichorError } from './petrichor-error.ts';

/** What a quota limits. Days and months are those of UTC. */
export type QuotaName =
  | 'tokensPerDay'
  | 'tokensPerMonth'
  | 'usdPerDay'
  | 'usdPerMonth'
  | 'sessions'
  | 'schedules'
  | 'storageBytes';

/** All quotas, with the words for them in messages. */
export const QUOTA_LABELS: Readonly<Record<QuotaName, string>> = {
  tokensPerDay: 'tokens per day',
  tokensPerMonth: 'tokens per month',
  usdPerDay: 'USD per day',
  usdPerMonth: 'USD per month',
  sessions: 'open sessions',
  schedules: 'schedules',
  storageBytes: 'bytes of storage',
};

/** What makes room below a quota that does not renew. */
const ROOM: Partial<Record<QuotaName, string>> = {
  sessions: 'Archive or delete sessions',
  schedules: 'Delete schedules',
  storageBytes: 'Delete sessions or artifacts',
};

/** Which sessions share a quota: those of one user, or all of the app. */
export type QuotaScope = 'user' | 'app';

/** A quota and how much of it is used. */
export interface QuotaStatus {
  readonly quota: QuotaName;
  readonly scope: QuotaScope;
  /** The user, if the scope is `user`. A server stores its workspaces as users. */
  readonly user?: string;
  readonly limit: number;
  readonly used: number;
  /** When the used amount returns to 0, in epoch milliseconds. Missing for `sessions`, `schedules` and `storageBytes`. */
  readonly renewsAt?: number;
}

/**
 * A quota of the user or of the app is used up. Nothing was started: no model was called, and no session, schedule or artifact
 * was created. A turn that a quota stops ends with `budget_reached`; `resume` continues it when the quota has room again.
 * @remedy Wait until the time in the message, archive or delete sessions, delete schedules or artifacts, or raise the quota in the option
 * `quotas`.
 */
export class QuotaExceededError extends PetrichorError {
  override readonly code = 'quota_exceeded' as const;
  readonly status: QuotaStatus;

  constructor(status: QuotaStatus) {
    super(describeExceeded(status));
    this.status = status;
  }
}

function describeExceeded({ quota, scope, limit, used, renewsAt }: QuotaStatus): string {
  const label = QUOTA_LABELS[quota];
  // What other users have used is not for this one.
  const what =
    scope === 'app'
      ? `The quota of all users together is used up: ${label}.`
      : `The quota is used up: ${format(used)} of ${format(limit)} ${label}.`;
  const next =
    renewsAt === undefined
      ? `${ROOM[quota]}, or ask the operator to raise it.`
      : `It renews at ${new Date(renewsAt).toISOString()}. Wait until then, or ask the operator to raise it.`;
  return `${what} ${next}`;
}

function format(amount: number): string {
  return amount.toLocaleString('en', { maximumFractionDigits: 4 });
}
