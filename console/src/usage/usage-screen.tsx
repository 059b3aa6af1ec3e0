import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { UsageTotal } from '../../../src/client/index.ts';
import { client } from '../state/connection.ts';
import { route, setQuery, toHref } from '../state/route.ts';
import { settings } from '../state/settings.ts';
import { EmptyState, Failure, Loading } from '../ui/empty-state.tsx';
import { formatCost, formatCount } from '../ui/format.ts';
import { addUsage, groupUsage, listDays } from './total-usage.ts';
import type { UsageRow } from './total-usage.ts';

const PERIODS = [
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
  ['90', 'Last 90 days'],
] as const;
const DAY_MS = 86_400_000;

interface UsageData {
  readonly days: readonly UsageTotal[];
  readonly agents: readonly UsageTotal[];
}

/** Model calls, tokens and their cost, by day, model and agent. */
export function UsageScreen(): JSX.Element {
  const period = route.value.query.get('days') ?? '30';
  const to = new Date().toISOString().slice(0, 10);
  const from = new Date(Date.parse(to) - (Number(period) - 1) * DAY_MS).toISOString().slice(0, 10);
  const [data, setData] = useState<UsageData | undefined>(undefined);
  const [error, setError] = useState<Error | undefined>(undefined);
  useEffect(() => {
    const range = { from, to };
    Promise.all([
      client.value.usage({ ...range, by: ['day', 'model'] }),
      client.value.usage({ ...range, by: ['agent', 'model'] }),
    ])
      .then(([days, agents]) => setData({ days, agents }))
      .catch((cause: unknown) => {
        setError(cause instanceof Error ? cause : new Error(String(cause)));
      });
  }, [from, to, client.value]);
  if (error !== undefined) return <Failure error={error} isScreen />;
  return (
    <section class="screen">
      <header class="screen-head">
        <h1>Usage</h1>
        <select
          aria-label="Period"
          value={period}
          onChange={({ currentTarget }) => setQuery({ days: currentTarget.value })}
        >
          {PERIODS.map(([days, name]) => (
            <option key={days} value={days}>
              {name}
            </option>
          ))}
        </select>
      </header>
      {data === undefined ? (
        <Loading rows={5} />
      ) : data.days.length === 0 ? (
        <EmptyState icon="usage" title="No model was called">
          <p>Calls and tokens of this period appear here. Try a longer one.</p>
        </EmptyState>
      ) : (
        <UsageView data={data} days={listDays(from, to)} />
      )}
    </section>
  );
}

function UsageView({
  data,
  days,
}: {
  readonly data: UsageData;
  readonly days: readonly string[];
}): JSX.Element {
  const { prices } = settings.value;
  const total = useMemo(() => addUsage('', data.days, prices), [data, prices]);
  const byDay = useMemo(
    () =>
      days.map((day) =>
        addUsage(
          day,
          data.days.filter((one) => one.day === day),
          prices,
        ),
      ),
    [data, days.join(), prices],
  );
  const models = groupUsage(data.days, ({ model }) => model ?? '', prices);
  const agents = groupUsage(data.agents, ({ agent_id: agent }) => agent ?? '', prices);
  return (
    <div class="sections">
      <section class="section" aria-label="Total">
        <dl class="figures">
          <Figure name="model calls" value={formatCount(total.calls)} />
          <Figure name="tokens in" value={formatCount(total.inputTokens)} />
          <Figure name="tokens out" value={formatCount(total.outputTokens)} />
          <Figure name="cost" value={prices.length === 0 ? '–' : describeCost(total)} />
        </dl>
        {total.isPartial && (
          <p class="muted">
            {prices.length === 0 ? 'No prices are entered' : 'Some models have no price'}: enter
            them under <a href={toHref(['settings'])}>Settings</a>.
          </p>
        )}
        <DayBars rows={byDay} />
      </section>
      <UsageTable title="Models" rows={models} hasPrices={prices.length > 0} />
      <UsageTable
        title="Agents"
        rows={agents}
        hasPrices={prices.length > 0}
        href={(id) => toHref(['agents', id])}
      />
    </div>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: string }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** Tokens by day, as bars. The tables have the same as text. */
function DayBars({ rows }: { readonly rows: readonly UsageRow[] }): JSX.Element {
  const tokens = (row: UsageRow): number => row.inputTokens + row.outputTokens;
  const most = Math.max(1, ...rows.map(tokens));
  const [first, last] = [rows[0], rows.at(-1)];
  return (
    <figure class="day-bars">
      <div class="day-bars-box" role="img" aria-label={`Tokens by day, at most ${most} on one`}>
        {rows.map((row) => (
          <span
            key={row.name}
            class="day-bar"
            title={`${row.name}: ${formatCount(tokens(row))} tokens, ${formatCount(row.calls)} calls`}
          >
            <span class="day-bar-out" style={{ height: `${(row.outputTokens / most) * 100}%` }} />
            <span class="day-bar-in" style={{ height: `${(row.inputTokens / most) * 100}%` }} />
          </span>
        ))}
      </div>
      <figcaption class="muted">
        <span>{first?.name}</span>
        <span class="day-legend">
          <i class="day-bar-in" /> in <i class="day-bar-out" /> out
        </span>
        <span>{last?.name} (UTC)</span>
      </figcaption>
    </figure>
  );
}

function UsageTable({
  title,
  rows,
  hasPrices,
  href,
}: {
  readonly title: string;
  readonly rows: readonly UsageRow[];
  readonly hasPrices: boolean;
  readonly href?: (name: string) => string;
}): JSX.Element {
  return (
    <section class="section" aria-label={title}>
      <h2>{title}</h2>
      <div class="scroll-x" tabIndex={0} role="region" aria-label={`${title}, table`}>
        <table class="usage-table">
          <thead>
            <tr>
              <th scope="col">{title.slice(0, -1)}</th>
              <th scope="col">Calls</th>
              <th scope="col">Tokens in</th>
              <th scope="col">out</th>
              {hasPrices && <th scope="col">Cost</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <th scope="row" class="mono">
                  {href === undefined || row.name === '' ? (
                    row.name || 'unknown'
                  ) : (
                    <a href={href(row.name)}>{row.name}</a>
                  )}
                </th>
                <td>{row.calls.toLocaleString()}</td>
                <td>{row.inputTokens.toLocaleString()}</td>
                <td>{row.outputTokens.toLocaleString()}</td>
                {hasPrices && <td>{describeCost(row)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** A sum without the models that have no price is at least that. */
function describeCost({ cost, isPartial }: UsageRow): string {
  if (isPartial && cost === 0) return 'no price';
  return `${isPartial ? '≥ ' : ''}${formatCost(cost)}`;
}
