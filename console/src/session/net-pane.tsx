import { useComputed, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { listBoxNames } from '../net/collapse.ts';
import type { SubnetBox } from '../net/collapse.ts';
import { layOut } from '../net/lay-out.ts';
import type { Drawing } from '../net/lay-out.ts';
import { NetView } from '../net/net-view.tsx';
import { PlaceTable } from '../net/place-table.tsx';
import { STORY } from '../net/story.ts';
import type { NetParts } from '../net/story.ts';
import { valuesIn, viewMarking } from '../net/token-view.ts';
import { useDirection } from '../net/use-direction.ts';
import type { PanZoom } from '../net/use-pan-zoom.ts';
import { EmptyState, Failure, Loading } from '../ui/empty-state.tsx';
import { Icon } from '../ui/icon.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { useNow } from '../ui/use-now.ts';
import { listMoves, transitionIn } from './record-moves.ts';
import { lastChanges } from './last-changes.ts';
import type { SessionModel } from './session-model.ts';

const TOGGLES: readonly { readonly part: keyof NetParts; readonly text: string }[] = [
  { part: 'shared', text: 'log and state' },
  { part: 'looks', text: 'reads and inhibitors' },
  { part: 'failures', text: 'retries, failures and limits' },
  { part: 'stops', text: 'what stops a turn' },
  { part: 'control', text: 'session control' },
];

/** The net of a session at the moment that is shown, as a drawing or as a table. */
export function NetPane({
  model,
  others,
  label = 'Net',
}: {
  readonly model: SessionModel;
  /** Transitions that fired in another session, which is shown beside it: both have the same drawing. */
  readonly others?: readonly string[];
  readonly label?: string;
}): JSX.Element {
  const parts = useSignal<NetParts>(STORY);
  const subnets = useSignal(false);
  const collapsed = useSignal<readonly string[]>([]);
  const asTable = useSignal(false);
  const focus = useSignal<string | undefined>(undefined);
  const [drawing, setDrawing] = useState<Drawing | undefined>(undefined);
  const [failure, setFailure] = useState<Error | undefined>(undefined);
  const controls = useRef<PanZoom | undefined>(undefined);
  const box = useRef<HTMLDivElement>(null);
  const direction = useDirection(box, { subnets: subnets.value });
  const net = model.net.value;
  const happened = [...new Set([...useHappened(model), ...(others ?? [])])].toSorted();
  useEffect(() => {
    if (net === undefined) return undefined;
    let isCurrent = true;
    const options = { subnets: subnets.value, direction, happened, collapsed: collapsed.value };
    layOut(net, parts.value, options)
      .then((found) => {
        if (isCurrent) setDrawing(found);
      })
      .catch((error: unknown) => {
        if (isCurrent) setFailure(error instanceof Error ? error : new Error(String(error)));
      });
    return () => {
      isCurrent = false;
    };
  }, [net, parts.value, subnets.value, collapsed.value, direction, happened.join()]);
  const { record, marking, current, isLive } = model.moment.value;
  const view = useMemo(() => viewMarking(marking), [marking, record]);
  const moves = useMemo(() => listMoves(current), [current]);
  const fired = transitionIn(current);
  const now = useNow(isLive && view.running.size > 0);
  const changed = useComputed(() => lastChanges(model.history, model.moment.value.record));
  return (
    <section class="pane net-pane" aria-label={label}>
      <header class="pane-head">
        <h2>Net</h2>
        <details class="menu">
          <summary class="button small">Show</summary>
          <div class="menu-box">
            {TOGGLES.map(({ part, text }) => (
              <label key={part}>
                <input
                  type="checkbox"
                  checked={parts.value[part]}
                  onChange={({ currentTarget }) => {
                    parts.value = { ...parts.value, [part]: currentTarget.checked };
                  }}
                />
                {text}
              </label>
            ))}
            <label>
              <input
                type="checkbox"
                checked={subnets.value}
                onChange={({ currentTarget }) => (subnets.value = currentTarget.checked)}
              />
              boxes of subnets
            </label>
            <label>
              <input
                type="checkbox"
                checked={collapsed.value.length > 0}
                onChange={({ currentTarget }) => {
                  focus.value = undefined;
                  const isChosen = currentTarget.checked && net !== undefined;
                  collapsed.value = isChosen ? listBoxNames(net) : [];
                }}
              />
              one node per subnet
            </label>
          </div>
        </details>
        {drawing !== undefined && drawing.net.hidden > 0 && (
          <span class="muted small-text wide-only">
            {drawing.net.hidden} of {drawing.net.hidden + drawing.net.transitions.length}{' '}
            transitions hidden
          </span>
        )}
        <span class="grow" />
        {!asTable.value && (
          <>
            <button
              type="button"
              class="icon-button"
              aria-label="Smaller"
              onClick={() => controls.current?.zoom(0.8)}
            >
              −
            </button>
            <button
              type="button"
              class="icon-button"
              aria-label="Larger"
              onClick={() => controls.current?.zoom(1.25)}
            >
              +
            </button>
            <button
              type="button"
              class="icon-button"
              aria-label="Show all of it"
              onClick={() => controls.current?.fit()}
            >
              <Icon name="fit" />
            </button>
          </>
        )}
        <button
          type="button"
          class="button small"
          aria-pressed={asTable.value}
          onClick={() => (asTable.value = !asTable.value)}
        >
          <Icon name={asTable.value ? 'net' : 'table'} /> {asTable.value ? 'Drawing' : 'Table'}
        </button>
      </header>
      <div class="net-box" ref={box}>
        {failure !== undefined ? (
          <Failure error={failure} />
        ) : net === undefined && model.noNet.value !== undefined ? (
          <EmptyState icon="net" title="There is no net to show">
            <p>{model.noNet.value}</p>
          </EmptyState>
        ) : net === undefined || (drawing === undefined && !asTable.value) ? (
          <Loading rows={5} />
        ) : asTable.value ? (
          <PlaceTable
            net={net}
            marking={view}
            moves={moves}
            changed={changed.value}
            onChoose={(node) => (focus.value = node)}
          />
        ) : drawing !== undefined ? (
          <NetView
            drawing={drawing}
            marking={view}
            moves={moves}
            fired={fired}
            record={record}
            now={isLive ? now : marking.at}
            focus={focus.value}
            onFocus={(node) => (focus.value = node)}
            onPanZoom={(found) => (controls.current = found)}
          />
        ) : null}
        {focus.value !== undefined && (
          <NodeDetails
            model={model}
            node={focus.value}
            box={drawing?.net.boxes.find(({ name }) => `t:${name}` === focus.value)}
            onClose={() => (focus.value = undefined)}
            onExpand={(name) => {
              focus.value = undefined;
              collapsed.value = collapsed.value.filter((one) => one !== name);
            }}
          />
        )}
      </div>
    </section>
  );
}

/** What a chosen place holds, or what a chosen transition is. */
function NodeDetails({
  model,
  node,
  box,
  onClose,
  onExpand,
}: {
  readonly model: SessionModel;
  readonly node: string;
  /** The subnet that the node stands for. */
  readonly box: SubnetBox | undefined;
  readonly onClose: () => void;
  readonly onExpand: (name: string) => void;
}): JSX.Element {
  const name = node.slice(2);
  const isPlace = node.startsWith('p:');
  const { marking } = model.moment.value;
  const values = isPlace ? valuesIn(marking, name) : [];
  const transition = model.net.value?.transitions.find((one) => one.name === name);
  return (
    <aside class="node-details" aria-label={`About ${name}`}>
      <header>
        <h3 class="mono">{name}</h3>
        <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {box !== undefined ? (
        <>
          <JsonView value={{ transitions: box.transitions, places: box.places }} open={2} />
          <button type="button" class="button small" onClick={() => onExpand(box.name)}>
            Expand
          </button>
        </>
      ) : isPlace ? (
        values.length === 0 ? (
          <p class="muted">Empty at this moment.</p>
        ) : (
          <JsonView value={values.length === 1 ? values[0] : values} open={2} />
        )
      ) : (
        transition !== undefined && <JsonView value={describeTransition(transition)} open={1} />
      )}
    </aside>
  );
}

function describeTransition({
  name: _name,
  arcs,
  ...rest
}: NonNullable<SessionModel['net']['value']>['transitions'][number]): object {
  const byKind = Object.groupBy(arcs, ({ kind }) => kind);
  const places = Object.entries(byKind).map(([kind, found]) => [
    kind,
    [...new Set(found.map(({ place }) => place))],
  ]);
  return { ...rest, ...Object.fromEntries(places) };
}

/** The transitions that fired in a session. */
export function useHappened(model: SessionModel): readonly string[] {
  const seen = useMemo(() => ({ names: new Set<string>(), last: 0 }), [model]);
  const last = model.last.value;
  for (const record of model.history.slice(seen.last + 1)) {
    const name = transitionIn(record);
    if (name !== undefined) seen.names.add(name);
  }
  seen.last = last;
  return [...seen.names];
}
