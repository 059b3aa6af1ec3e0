import type { Quota } from '../../../src/client/index.ts';

/** The quotas of a workspace, or of all together. */
export interface QuotaGroup {
  /** The name of the workspace. Undefined: all workspaces together. */
  readonly workspace: string | undefined;
  readonly quotas: readonly Quota[];
}

const NAMES: Readonly<Record<Quota['quota'], string>> = {
  tokens_per_day: 'Tokens today',
  tokens_per_month: 'Tokens this month',
  usd_per_day: 'USD today',
  usd_per_month: 'USD this month',
  sessions: 'Open sessions',
  schedules: 'Schedules',
  storage_bytes: 'Storage',
};

/** The part from which a quota counts as nearly used up, as in the alert. */
const NEAR = 0.9;

export function nameQuota({ quota }: Quota): string {
  return NAMES[quota];
}

/** The used part, from 0 to 1. A quota of 0 is used up. */
export function usedPart({ used, limit }: Quota): number {
  return limit === 0 ? 1 : Math.min(1, used / limit);
}

export function describeUse(quota: Quota): 'used up' | 'nearly used up' | undefined {
  const part = usedPart(quota);
  if (part >= 1) return 'used up';
  return part >= NEAR ? 'nearly used up' : undefined;
}

/** Groups quotas by workspace: those of all workspaces first, then those of the ones that have used most of one. */
export function groupQuotas(quotas: readonly Quota[]): readonly QuotaGroup[] {
  const groups = Map.groupBy(quotas, ({ scope, workspace }) =>
    scope === 'workspace' ? workspace : undefined,
  );
  const most = (group: QuotaGroup): number =>
    group.workspace === undefined ? 2 : Math.max(...group.quotas.map(usedPart));
  return [...groups]
    .map(([workspace, ofWorkspace]) => ({ workspace, quotas: ofWorkspace }))
    .toSorted(
      (one, other) =>
        most(other) - most(one) || (one.workspace ?? '').localeCompare(other.workspace ?? ''),
    );
}
