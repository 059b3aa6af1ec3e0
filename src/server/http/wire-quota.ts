import type { QuotaName, QuotaScope, QuotaStatus } from '../../core/index.ts';

/** The names of quotas in the HTTP API. */
export const WIRE_QUOTA_NAMES: {
  readonly tokensPerDay: 'tokens_per_day';
  readonly tokensPerMonth: 'tokens_per_month';
  readonly usdPerDay: 'usd_per_day';
  readonly usdPerMonth: 'usd_per_month';
  readonly sessions: 'sessions';
  readonly schedules: 'schedules';
  readonly storageBytes: 'storage_bytes';
} = {
  tokensPerDay: 'tokens_per_day',
  tokensPerMonth: 'tokens_per_month',
  usdPerDay: 'usd_per_day',
  usdPerMonth: 'usd_per_month',
  sessions: 'sessions',
  schedules: 'schedules',
  storageBytes: 'storage_bytes',
};

/** The names of scopes in the HTTP API. */
export const WIRE_QUOTA_SCOPES: Readonly<Record<QuotaScope, WireQuota['scope']>> = {
  user: 'workspace',
  app: 'all_workspaces',
};

/** A quota in the HTTP API. */
export interface WireQuota {
  readonly quota: (typeof WIRE_QUOTA_NAMES)[QuotaName];
  readonly scope: 'workspace' | 'all_workspaces';
  readonly limit: number;
  readonly used: number;
  readonly renews_at: string | null;
}

/** Converts a quota to the format of the HTTP API, without its workspace. */
export function toWireQuota({
  quota,
  scope,
  limit,
  used,
  renewsAt,
}: QuotaStatus): WireQuota & { readonly [name: string]: string | number | null } {
  return {
    quota: WIRE_QUOTA_NAMES[quota],
    scope: WIRE_QUOTA_SCOPES[scope],
    limit,
    used,
    renews_at: renewsAt === undefined ? null : new Date(renewsAt).toISOString(),
  };
}
