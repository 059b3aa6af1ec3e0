import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Quota } from '../../../src/client/index.ts';
import { client } from '../state/connection.ts';
import { route, setQuery } from '../state/route.ts';
import { Badge } from '../ui/badge.tsx';
import { EmptyState, Failure, Loading } from '../ui/empty-state.tsx';
import { formatBytes, formatCost, formatCount } from '../ui/format.ts';
import { DueTime } from '../ui/relative-time.tsx';
import { describeUse, groupQuotas, nameQuota, usedPart } from './quota-rows.ts';
import type { QuotaGroup } from './quota-rows.ts';

const REFRESH_MS = 15_000;

/** What is used of the quotas of the workspace, or of all workspaces. */
export function QuotasScreen(): JSX.Element {
  const isAll = route.value.query.get('of') === 'all';
  const [quotas, setQuotas] = useState<readonly Quota[] | undefined>(undefined);
  const [error, setError] = useState<Error | undefined>(undefined);
  useEffect(() => {
    let isShown = true;
    const read = (): void => {
      void readQuotas(isAll)
        .then((found) => {
          if (!isShown) return;
          setQuotas(found);
          setError(undefined);
        })
        .catch((cause: unknown) => {
          if (isShown) setError(cause instanceof Error ? cause : new Error(String(cause)));
        });
    };
    setQuotas(undefined);
    setError(undefined);
    read();
    const timer = setInterval(read, REFRESH_MS);
    return () => {
      isShown = false;
      clearInterval(timer);
    };
  }, [isAll, client.value]);
  return (
    <section class="screen">
      <header class="screen-head">
        <h1>Quotas</h1>
        <select
          aria-label="Whose quotas"
          value={isAll ? 'all' : 'own'}
          onChange={({ currentTarget }) =>
            setQuery({ of: currentTarget.value === 'all' ? 'all' : undefined })
          }
        >
          <option value="own">This workspace</option>
          <option value="all">All workspaces</option>
        </select>
      </header>
      {error !== undefined ? (
        <Failure error={error} />
      ) : quotas === undefined ? (
        <Loading rows={4} />
      ) : quotas.length === 0 ? (
        <EmptyState icon="quotas" title="No quota applies">
          <p>
            {isAll
              ? 'The server has no quotas. Start it with --quotas FILE.'
              : 'This workspace may use what it needs. A quota of all workspaces is shown to operators.'}
          </p>
        </EmptyState>
      ) : (
        <div class="sections">
          {groupQuotas(quotas).map((group) => (
            <QuotaTable key={group.workspace ?? ''} group={group} isOwn={!isAll} />
          ))}
        </div>
      )}
    </section>
  );
}

async function readQuotas(isAll: boolean): Promise<readonly Quota[]> {
  if (!isAll) return client.value.quotas();
  const path = '/v1/operator/quotas';
  return (await client.value.call<{ readonly data: readonly Quota[] }>('GET', path)).data;
}

function QuotaTable({
  group: { workspace, quotas },
  isOwn,
}: {
  readonly group: QuotaGroup;
  readonly isOwn: boolean;
}): JSX.Element {
  const title = workspace === undefined ? 'All workspaces together' : `Workspace ${workspace}`;
  return (
    <section class="section" aria-label={title}>
      {!isOwn && <h2>{title}</h2>}
      <div class="scroll-x" tabIndex={0} role="region" aria-label={`${title}, table`}>
        <table class="usage-table quota-table">
          <thead>
            <tr>
              <th scope="col">Quota</th>
              <th scope="col">Used</th>
              <th scope="col">of</th>
              <th scope="col">Part</th>
              <th scope="col">Renews</th>
            </tr>
          </thead>
          <tbody>
            {quotas.map((quota) => (
              <QuotaRow key={quota.quota} quota={quota} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function QuotaRow({ quota }: { readonly quota: Quota }): JSX.Element {
  const state = describeUse(quota);
  const percent = Math.floor(usedPart(quota) * 100);
  const kind = state === 'used up' ? 'bad' : state === undefined ? 'good' : 'wait';
  return (
    <tr>
      <th scope="row">{nameQuota(quota)}</th>
      <td title={quota.used.toLocaleString()}>{formatAmount(quota, quota.used)}</td>
      <td title={quota.limit.toLocaleString()}>{formatAmount(quota, quota.limit)}</td>
      <td>
        <span class="quota-part">
          <span class="quota-bar" aria-hidden="true">
            <span class={`quota-fill quota-${kind}`} style={{ width: `${percent}%` }} />
          </span>
          <span>{percent} %</span>
          {state !== undefined && <Badge tone={kind} text={state} />}
        </span>
      </td>
      <td>{quota.renews_at === null ? '–' : <DueTime at={quota.renews_at} />}</td>
    </tr>
  );
}

function formatAmount({ quota }: Quota, amount: number): string {
  if (quota === 'storage_bytes') return formatBytes(amount);
  return quota.startsWith('usd') ? formatCost(amount) : formatCount(amount);
}
