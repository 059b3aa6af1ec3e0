import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { JournalRecord, Marking } from '../../../src/net/journal/index.ts';
import type { SessionModelRequest } from '../api/types.ts';
import { client } from '../state/connection.ts';
import { route, setQuery } from '../state/route.ts';
import { formatFullTime, formatTime, redact } from '../ui/format.ts';
import { JsonView } from '../ui/json-view.tsx';
import type { JournalHistory } from './journal-history.ts';
import { describeRecord, listMoves } from './record-moves.ts';
import { readFollowed } from './session-model.ts';
import type { SessionModel } from './session-model.ts';
import { diffState } from './state-diff.ts';
import { Tabs } from '../ui/tabs.tsx';

const TABS = ['Record', 'State', 'Prompt', 'Log', 'Raw'] as const;

/** Everything about the moment that is shown. */
export function Inspector({ model }: { readonly model: SessionModel }): JSX.Element {
  const chosen = route.value.query.get('tab');
  const tab = TABS.find((one) => one.toLowerCase() === chosen) ?? 'Record';
  return (
    <section class="pane inspector" aria-label="Inspector">
      <h2 class="visually-hidden">Inspector</h2>
      <Tabs
        label="Inspector"
        tabs={TABS}
        chosen={tab}
        onChoose={(one) => setQuery({ tab: one === 'Record' ? undefined : one.toLowerCase() })}
      />
      <div class="inspector-body" role="tabpanel" aria-label={tab} tabIndex={0}>
        <TabBody tab={tab} model={model} />
      </div>
    </section>
  );
}

function TabBody({
  tab,
  model,
}: {
  readonly tab: (typeof TABS)[number];
  readonly model: SessionModel;
}): JSX.Element {
  const { current, marking } = readFollowed(model);
  switch (tab) {
    case 'Record':
      return <RecordTab model={model} record={current} />;
    case 'State':
      return <StateTab model={model} marking={marking} />;
    case 'Prompt':
      return <PromptTab model={model} />;
    case 'Log':
      return <LogTab model={model} />;
    case 'Raw':
      return current === undefined ? (
        <p class="muted">There is no record yet.</p>
      ) : (
        <pre class="raw">{redact(JSON.stringify(current, null, 2))}</pre>
      );
    default:
      return tab satisfies never;
  }
}

function RecordTab({
  model,
  record,
}: {
  readonly model: SessionModel;
  readonly record: JournalRecord | undefined;
}): JSX.Element {
  if (record === undefined)
    return <p class="muted">Before the first record nothing has happened: the net is empty.</p>;
  const moves = listMoves(record);
  const given = 'give' in record ? (record.give ?? []) : [];
  const lists = 'lists' in record ? (record.lists ?? []) : [];
  const maps = 'maps' in record ? (record.maps ?? []) : [];
  const taken = [
    ...[...moves.taken].map(([place, count]) => ({ place, count, how: 'takes' })),
    ...[...moves.reset].map(([place, count]) => ({ place, count, how: 'removes' })),
  ].map((move) => ({ ...move, values: listTakenValues(record, move.place, model.history) }));
  return (
    <>
      <h3 class="record-title">{describeRecord(record)}</h3>
      <dl class="facts">
        <dt>record</dt>
        <dd>{record.seq}</dd>
        <dt>step</dt>
        <dd>{model.history.step(record.seq)}</dd>
        <dt>kind</dt>
        <dd>{record.kind}</dd>
        <dt>time</dt>
        <dd title={formatFullTime(record.at)}>{formatTime(record.at)}</dd>
        {'firing' in record && (
          <>
            <dt>firing</dt>
            <dd>{record.firing}</dd>
          </>
        )}
        {'outcome' in record && (
          <>
            <dt>outcome</dt>
            <dd class={record.outcome === 'ok' ? 'ok' : 'bad'}>{record.outcome}</dd>
          </>
        )}
        {'attempt' in record && (
          <>
            <dt>attempt</dt>
            <dd>{record.attempt}</dd>
          </>
        )}
        {'reason' in record && record.reason !== undefined && (
          <>
            <dt>reason</dt>
            <dd>{redact(record.reason)}</dd>
          </>
        )}
        {record.kind === 'faulted' && (
          <>
            <dt>error</dt>
            <dd class="bad">
              {record.error.code}: {redact(record.error.message)}
            </dd>
          </>
        )}
      </dl>
      {taken.length > 0 && <h4>Takes</h4>}
      {taken.map(({ place, count, how, values }) => (
        <div key={`${how} ${place}`} class="move move-taken">
          <span class="mono">{place}</span>
          <span class="muted">{count > 1 ? ` ×${count}` : ''}</span>
          {how === 'removes' && <span class="muted"> removed</span>}
          {values.map((value, index) => (
            <JsonView key={`${record.seq} ${index}`} value={value} open={0} />
          ))}
        </div>
      ))}
      {given.length + lists.length + maps.length > 0 && <h4>Gives</h4>}
      {given.map(([place, value, more], index) => (
        <div key={`${place} ${index}`} class="move move-given">
          <span class="mono">{place}</span>
          <span class="muted">{more?.times === undefined ? '' : ` ×${more.times}`}</span>
          {value !== null && <JsonView key={record.seq} value={value} open={1} />}
        </div>
      ))}
      {[...lists, ...maps].map((change, index) => {
        const { place, ...rest } = change;
        return (
          <div key={`${place} ${index} list`} class="move move-given">
            <span class="mono">{place}</span>
            <JsonView key={record.seq} value={rest} open={2} />
          </div>
        );
      })}
    </>
  );
}

/** The values of the tokens that a record takes from a place. A token that is only a permit has none. */
function listTakenValues(
  record: JournalRecord,
  place: string,
  history: JournalHistory,
): readonly unknown[] {
  const removals = [
    ...('take' in record ? (record.take ?? []) : []),
    ...('reset' in record ? (record.reset ?? []) : []),
  ];
  return removals
    .flatMap(([from, ...tokens]) => (from === place ? tokens : []))
    .slice(0, 5)
    .map((id) => history.tokenValue(id))
    .filter((value) => value !== null && value !== undefined);
}

function StateTab({
  model,
  marking,
}: {
  readonly model: SessionModel;
  readonly marking: Marking;
}): JSX.Element {
  const { record } = readFollowed(model);
  const places = [...marking.maps.keys()];
  const turn = findTurnStart(model, record);
  const earlier = model.history.copyAt(turn - 1);
  if (places.length === 0) return <p class="muted">No state was written yet.</p>;
  return (
    <>
      {places.map((place) => {
        const changes = diffState(earlier.maps.get(place) ?? {}, marking.maps.get(place) ?? {});
        return (
          <div key={place}>
            <h4 class="mono">{place}</h4>
            <JsonView key={record} value={marking.maps.get(place) ?? {}} open={2} />
            {changes.length > 0 && <h4>Since the turn began</h4>}
            {changes.map(({ key, how, value }) => (
              <div key={key} class={`move move-${how === 'removed' ? 'taken' : 'given'}`}>
                <span class="mono">{key}</span> <span class="muted">{how}</span>
                {how !== 'removed' && <JsonView value={value} open={1} />}
              </div>
            ))}
          </div>
        );
      })}
    </>
  );
}

/** The record that started the turn of a record. 0: none did. */
function findTurnStart(model: SessionModel, record: number): number {
  for (let seq = record; seq > 0; seq--) {
    const one = model.history.record(seq);
    if (one?.kind === 'fired' && one.t.endsWith('turn.start')) return seq;
  }
  return 0;
}

function PromptTab({ model }: { readonly model: SessionModel }): JSX.Element {
  const { record } = readFollowed(model);
  const firing = findModelCall(model, record);
  const [found, setFound] = useState<SessionModelRequest | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  useEffect(() => {
    setFound(undefined);
    failure.value = undefined;
    if (firing === undefined || model.isFile) return undefined;
    let isCurrent = true;
    // While the timeline is dragged, nothing is read.
    const timer = setTimeout(() => {
      client.value.sessions
        .modelRequest(model.id, firing)
        .then((request) => {
          if (isCurrent) setFound(request);
        })
        .catch((error: unknown) => {
          if (isCurrent) failure.value = error instanceof Error ? error.message : String(error);
        });
    }, 250);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [firing, model]);
  if (firing === undefined) return <p class="muted">No model was asked up to this moment.</p>;
  if (model.isFile)
    return <p class="muted">A journal file has no agent, so a prompt cannot be rebuilt.</p>;
  if (failure.value !== undefined) return <p class="bad">{failure.value}</p>;
  if (found === undefined) return <p class="muted">Reading the request of record {firing} …</p>;
  const { request, model: name, may_differ: differ, net_changed: changed } = found;
  const { instruction, tools, contents, ...rest } = request;
  return (
    <>
      <dl class="facts">
        <dt>model</dt>
        <dd>{name}</dd>
        <dt>record</dt>
        <dd>{firing}</dd>
      </dl>
      {changed && <p class="hint">The agent was changed since this call.</p>}
      {differ.length > 0 && (
        <p class="hint">
          Not in the journal, taken from the agent as it is now:{' '}
          {differ.map(({ part, source }) => `${part} (${source})`).join(', ')}.
        </p>
      )}
      <h3 class="label-heading">Instruction</h3>
      {typeof instruction === 'string' ? (
        <p class="prompt-text">{redact(instruction)}</p>
      ) : (
        <JsonView value={instruction ?? null} open={2} />
      )}
      <h3 class="label-heading">Tools</h3>
      <JsonView value={tools ?? []} open={1} />
      <h3 class="label-heading">Contents</h3>
      <JsonView value={contents ?? []} open={3} />
      {Object.keys(rest).length > 0 && (
        <>
          <h3 class="label-heading">More</h3>
          <JsonView value={rest} open={1} />
        </>
      )}
    </>
  );
}

/** The last model call that started at or before a record. */
function findModelCall(model: SessionModel, record: number): number | undefined {
  for (let seq = record; seq > 0; seq--) {
    const one = model.history.record(seq);
    if (one?.kind === 'started' && one.t.endsWith('model.call')) return seq;
  }
  return undefined;
}

function LogTab({ model }: { readonly model: SessionModel }): JSX.Element {
  const { record, isLive } = readFollowed(model);
  const seq = isLive
    ? Infinity
    : (model.forkPoints.value.findLast((point) => point.record <= record)?.up_to_seq ?? 0);
  const shown = model.events.value.filter((event) => event.seq <= seq).slice(-200);
  if (shown.length === 0) return <p class="muted">The log has no entry at this moment.</p>;
  return (
    <>
      {shown.map((event) => {
        const { id, seq: number, type, ...rest } = event;
        return (
          <details key={id} class="log-entry">
            <summary>
              <span class="muted">{number}</span> <span class="mono">{type}</span>
            </summary>
            <JsonView value={{ id, ...rest }} open={2} />
          </details>
        );
      })}
    </>
  );
}
