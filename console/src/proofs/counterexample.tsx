import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Proof, ProofResult, ProofTrace, SessionNet } from '../api/types.ts';
import { layOut } from '../net/lay-out.ts';
import type { Drawing } from '../net/lay-out.ts';
import { NetView } from '../net/net-view.tsx';
import { useDirection } from '../net/use-direction.ts';
import { STORY } from '../net/story.ts';
import { client } from '../state/connection.ts';
import { route, setQuery } from '../state/route.ts';
import { Loading } from '../ui/empty-state.tsx';
import { Icon } from '../ui/icon.tsx';
import { PlayerButtons } from '../ui/player-buttons.tsx';
import { act, showToast } from '../ui/toast.tsx';
import { describeStep, isInCycle, listStepMoves, viewCounts } from './trace-view.ts';

const STEPS_PER_SECOND = 1.5;

/** Plays the steps that refute a property, on the net. */
export function Counterexample({
  proof,
  result,
  trace,
}: {
  readonly proof: Proof;
  readonly result: ProofResult;
  readonly trace: ProofTrace;
}): JSX.Element {
  const last = trace.steps.length;
  const step = readStep(route.value.query.get('step'), last);
  const playing = useSignal(false);
  const box = useRef<HTMLElement>(null);
  const show = (to: number): void => setQuery({ step: Math.max(0, Math.min(last, to)) });
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), []);
  useEffect(() => {
    const chosen = list.current?.children[step];
    if (list.current !== null && chosen instanceof HTMLElement) showInList(list.current, chosen);
  }, [step]);
  useEffect(() => {
    if (!playing.value) return undefined;
    const timer = setTimeout(() => {
      if (step >= last) playing.value = false;
      else show(step + 1);
    }, 1000 / STEPS_PER_SECOND);
    return () => clearTimeout(timer);
  }, [playing.value, step]);
  const play = (): void => {
    if (!playing.value && step >= last) show(0);
    playing.value = !playing.value;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key } = event;
    if (key === 'ArrowLeft' || key === 'ArrowUp') show(step - 1);
    else if (key === 'ArrowRight' || key === 'ArrowDown') show(step + 1);
    else if (key === 'Home') show(0);
    else if (key === 'End') show(last);
    else if (key === ' ') play();
    else return;
    event.preventDefault();
  };
  return (
    <section class="counterexample" aria-label="Counterexample" ref={box}>
      <header class="card-head">
        <h3>Counterexample</h3>
        <span class="grow" />
        <button
          type="button"
          class="button small"
          title={
            result.test === undefined
              ? 'A command that writes a test of these steps'
              : 'A test file beside the module of the agent'
          }
          onClick={() =>
            act(async () => {
              await navigator.clipboard.writeText(result.test ?? toCommand(proof, result));
              showToast(
                result.test === undefined
                  ? 'Copied. Replace AGENT_MODULE by the path of your file.'
                  : 'Copied. Save it beside the module, for example as refuted.test.ts.',
              );
            })
          }
        >
          <Icon name="copy" /> Copy as a test
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label="Close the counterexample"
          onClick={() => setQuery({ result: undefined, step: undefined })}
        >
          <Icon name="close" />
        </button>
      </header>
      <div class="player" onKeyDown={onKeyDown}>
        <TraceNet proof={proof} trace={trace} step={step} />
        <ol class="steps" aria-label="Steps" start={0} ref={list}>
          {[0, ...trace.steps.map((_, index) => index + 1)].map((one) => (
            <li key={one}>
              <button
                type="button"
                aria-current={one === step ? 'step' : undefined}
                onClick={() => show(one)}
              >
                <span class="muted">{one}</span>
                <span class="mono">{describeStep(trace, one)}</span>
                {isInCycle(trace, one) && (
                  <span class="muted" title="These steps can repeat forever">
                    ↻
                  </span>
                )}
              </button>
            </li>
          ))}
        </ol>
        <div class="player-controls">
          <PlayerButtons
            unit="step"
            at={step}
            last={last}
            playing={playing}
            onShow={show}
            onPlay={play}
          />
          <input
            type="range"
            min={0}
            max={last}
            value={step}
            aria-label="Step"
            aria-valuetext={`step ${step}, ${describeStep(trace, step)}`}
            onInput={({ currentTarget }) => show(Number(currentTarget.value))}
          />
          <span class="nowrap">
            <strong>{step}</strong> <span class="muted">of {last}</span>
          </span>
        </div>
        <p class="player-marking">
          <span class="muted">{step === last ? 'It ends with' : 'Tokens'}:</span>{' '}
          <code>{describeCounts(trace.markings[step] ?? {})}</code>
        </p>
      </div>
    </section>
  );
}

function TraceNet({
  proof,
  trace,
  step,
}: {
  readonly proof: Proof;
  readonly trace: ProofTrace;
  readonly step: number;
}): JSX.Element {
  const [net, setNet] = useState<SessionNet | undefined>(undefined);
  const [drawing, setDrawing] = useState<Drawing | undefined>(undefined);
  const focus = useSignal<string | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const box = useRef<HTMLDivElement>(null);
  const direction = useDirection(box);
  const happened = useMemo(
    () => [...new Set(trace.steps.flatMap(({ transition }) => transition ?? []))].toSorted(),
    [trace],
  );
  useEffect(() => {
    const read = async (): Promise<void> => {
      const found = await client.value.agents.net(proof.agent_id);
      setNet(found);
      setDrawing(await layOut(found, STORY, { subnets: false, direction, happened }));
    };
    read().catch((error: unknown) => {
      failure.value = error instanceof Error ? error.message : String(error);
    });
  }, [proof.agent_id, happened, direction]);
  const marking = useMemo(() => viewCounts(trace.markings[step] ?? {}), [trace, step]);
  const moves = useMemo(() => listStepMoves(trace, step), [trace, step]);
  if (failure.value !== undefined) return <p class="muted">{failure.value}</p>;
  return (
    <div class="net-box player-net" ref={box}>
      {net !== undefined && proof.net_hash !== null && net.hash !== proof.net_hash && (
        <p class="hint">The agent was changed since this proof. The net is that of today.</p>
      )}
      {drawing === undefined ? (
        <Loading rows={5} />
      ) : (
        <NetView
          drawing={drawing}
          marking={marking}
          moves={moves}
          fired={trace.steps[step - 1]?.transition}
          record={step}
          label={`Net after step ${step}. The line below has its tokens as text.`}
          now={0}
          focus={focus.value}
          onFocus={(node) => (focus.value = node)}
        />
      )}
    </div>
  );
}

/** Scrolls the list alone: the page stays where it is. */
function showInList(list: HTMLElement, { offsetTop, offsetHeight }: HTMLElement): void {
  const lowest = offsetTop + offsetHeight - list.clientHeight;
  list.scrollTop = Math.max(lowest, Math.min(list.scrollTop, offsetTop));
}

function describeCounts(counts: ProofTrace['marking']): string {
  const tokens = Object.entries(counts)
    .filter(([, n]) => n > 0)
    .map(([place, n]) => (n === 1 ? place : `${n} ${place}`));
  return tokens.join(', ') || 'nothing';
}

/** The command that proves the same property with the same bounds, and writes its counterexample as a test. */
function toCommand({ agent_id, bounds }: Proof, { text }: ProofResult): string {
  return [
    'petrichor prove AGENT_MODULE',
    `--agent ${agent_id.replace(/^agent_/u, '')}`,
    `--property '${text}'`,
    `--messages ${bounds.messages} --at-once ${bounds.at_once} --faults ${bounds.faults}`,
    ...(bounds.shutdowns ? ['--shutdowns'] : []),
    '--save-test refuted.test.ts',
  ].join(' ');
}

function readStep(text: string | null, last: number): number {
  const step = text === null ? last : Number(text);
  return Number.isSafeInteger(step) && step >= 0 && step <= last ? step : last;
}
