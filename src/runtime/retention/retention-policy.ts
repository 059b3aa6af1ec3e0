import * as v from 'valibot';
import { InvalidInputError } from '../../core/index.ts';
import { parseJsonWithSchema } from '../../core/validation/parse-with-schema.ts';
import type { SessionKey } from '../../core/index.ts';
import type { SessionRow, StoredStatus } from '../../store/index.ts';

/** A status in which a session can be deleted. A session whose turn runs is never deleted. */
export type RetainableStatus = Exclude<StoredStatus, 'running' | 'rescheduling'>;

/** How long sessions are kept. A rule applies to the sessions that match every given member. */
export interface RetentionRule {
  /** The application of the sessions. Default: any. */
  readonly app?: string;
  /** The user of the sessions: on a server, the workspace. Default: any. */
  readonly user?: string;
  /** The name of the agent, or the id of a managed agent. Default: any. */
  readonly agent?: string;
  /**
   * The statuses in which a session is archived or deleted. With `waiting`, also sessions with calls or timers that wait. Default:
   * `idle`, `completed` and `archived`.
   */
  readonly statuses?: readonly RetainableStatus[];
  /** Days since the last record after which a session is deleted: a number above 0. Default: it is kept. */
  readonly deleteAfterDays?: number;
  /**
   * Days since the last record after which a session is written to the archive, and then deleted: a number above 0. Not
   * together with `deleteAfterDays`. Default: it is kept.
   */
  readonly archiveAfterDays?: number;
  /**
   * Days after which the journal records of a step are removed: a number above 0. The session continues, and its log stays.
   * Records that a turn or a call in flight needs stay, too. Default: they are kept as long as the session.
   */
  readonly trimAfterDays?: number;
}

/** How long the sessions of a store are kept. */
export interface RetentionPolicy {
  /** The first rule that matches a session applies. A session that no rule matches is kept. */
  readonly rules: readonly RetentionRule[];
}

const STATUSES: readonly RetainableStatus[] = [
  'queued',
  'idle',
  'waiting',
  'paused',
  'failed',
  'completed',
  'archived',
  'quarantined',
];

const DEFAULT_STATUSES: readonly RetainableStatus[] = ['idle', 'completed', 'archived'];

const DAY_MS = 86_400_000;
const name = v.pipe(v.string(), v.nonEmpty('must not be empty'));
const days = v.pipe(v.number(), v.finite(), v.gtValue(0, 'must be above 0'));

const rule = v.strictObject({
  app: v.pipe(v.exactOptional(name), v.description('The application. Default: any')),
  user: v.pipe(v.exactOptional(name), v.description('The user or workspace. Default: any')),
  agent: v.pipe(
    v.exactOptional(name),
    v.description('The name of the agent, or the id of a managed agent. Default: any'),
  ),
  statuses: v.pipe(
    v.exactOptional(v.pipe(v.array(v.picklist(STATUSES)), v.minLength(1, 'must not be empty'))),
    v.description(
      'The statuses in which a session is archived or deleted; with waiting, also with waiting calls or timers. Default: idle, completed, archived',
    ),
  ),
  deleteAfterDays: v.pipe(
    v.exactOptional(days),
    v.description('Days since the last record after which a session is deleted. Default: never'),
  ),
  archiveAfterDays: v.pipe(
    v.exactOptional(days),
    v.description(
      'Days since the last record after which a session is written to the archive, and then deleted. Default: never',
    ),
  ),
  trimAfterDays: v.pipe(
    v.exactOptional(days),
    v.description(
      'Days after which the journal records of a step are removed from a session, which stays. Default: never',
    ),
  ),
});

/** The schema of a policy as data. */
export const RETENTION_POLICY_SCHEMA: v.GenericSchema<unknown, RetentionPolicy> = v.strictObject({
  rules: v.pipe(
    v.array(rule),
    v.minLength(1, 'must have at least one rule'),
    v.description('The first rule that matches a session applies. Others are kept'),
  ),
});

/**
 * Checks a policy.
 * @throws InvalidInputError with the path of the first wrong value
 */
export function parseRetentionPolicy(value: unknown): RetentionPolicy {
  const policy = parseJsonWithSchema(RETENTION_POLICY_SCHEMA, value, 'retention');
  for (const [index, one] of policy.rules.entries())
    if (one.archiveAfterDays !== undefined && one.deleteAfterDays !== undefined)
      throw new InvalidInputError(
        `retention.rules[${index}]`,
        'has archiveAfterDays and deleteAfterDays. Set one of them: an archived session is deleted from the store.',
      );
  if (policy.rules.every((one) => (getDays(one) ?? one.trimAfterDays) === undefined))
    throw new InvalidInputError(
      'retention.rules',
      'has no rule with deleteAfterDays, archiveAfterDays or trimAfterDays, so it keeps everything. Set one of them in a rule.',
    );
  return policy;
}

/** @throws InvalidInputError if a rule archives sessions and there is no archive */
export function assertArchive({ rules }: RetentionPolicy, archive: object | undefined): void {
  if (archive !== undefined || rules.every((one) => one.archiveAfterDays === undefined)) return;
  throw new InvalidInputError(
    'archive',
    'is missing, and the policy has a rule with archiveAfterDays. Name where sessions are archived.',
  );
}

function getDays({ deleteAfterDays, archiveAfterDays }: RetentionRule): number | undefined {
  return archiveAfterDays ?? deleteAfterDays;
}

/** Why a session is kept that is old enough. */
export type RetentionObstacle =
  | 'status'
  | 'unread_input'
  | 'running_call'
  | 'waiting_call'
  | 'timer'
  | 'schedule';

/** The rule that applies to a session. */
export function findRule(
  { rules }: RetentionPolicy,
  { key, agent }: { readonly key: SessionKey; readonly agent: string },
): RetentionRule | undefined {
  return rules.find(
    ({ app, user, agent: wanted }) =>
      (app === undefined || app === key.appName) &&
      (user === undefined || user === key.userId) &&
      (wanted === undefined || isAgent(agent, wanted)),
  );
}

/** The journal names a managed agent with its version: `agent_x-v3`. */
function isAgent(stored: string, wanted: string): boolean {
  if (stored === wanted) return true;
  return (
    stored.startsWith(`${wanted}-v`) &&
    /^\d+(?:-e[0-9a-f]+)?$/.test(stored.slice(wanted.length + 2))
  );
}

/** The time before which a session must have got its last record, in epoch ms. Undefined: it is kept. */
export function toCutoff(found: RetentionRule, now: number): number | undefined {
  const afterDays = getDays(found);
  return afterDays === undefined ? undefined : now - afterDays * DAY_MS;
}

/** The time up to which records are removed, in epoch ms. Undefined: they are kept. */
export function toTrimCutoff({ trimAfterDays }: RetentionRule, now: number): number | undefined {
  return trimAfterDays === undefined ? undefined : now - trimAfterDays * DAY_MS;
}

/** What keeps a session: its own state, or that of a session of an agent that it called. */
export function findObstacle(
  { statuses = DEFAULT_STATUSES }: RetentionRule,
  root: SessionRow,
  children: readonly SessionRow[],
): RetentionObstacle | undefined {
  if (!statuses.some((status) => status === root.status)) return 'status';
  const rows = [root, ...children];
  if (rows.some(({ inboxPending }) => inboxPending)) return 'unread_input';
  if (rows.some(({ inFlight }) => inFlight > 0)) return 'running_call';
  if (statuses.includes('waiting')) return undefined;
  if (rows.some(({ pending }) => pending.length > 0)) return 'waiting_call';
  if (rows.some(({ nextDueAt }) => nextDueAt !== null)) return 'timer';
  return undefined;
}
