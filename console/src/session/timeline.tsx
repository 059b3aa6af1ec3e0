import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { settings } from '../state/settings.ts';
import { formatTime } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { PlayerButtons } from '../ui/player-buttons.tsx';
import { TimelinePainter } from './draw-timeline.ts';
import { describeRecord } from './record-moves.ts';
import type { SessionModel } from './session-model.ts';
import { TimelineLanes } from './timeline-lanes.ts';

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16] as const;
/** Records per second at speed 1. */
const RECORDS_PER_SECOND = 4;

/** The records of a session as a slider. Dragging it shows any moment. */
export function Timeline({ model }: { readonly model: SessionModel }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const lanes = useMemo(() => new TimelineLanes(), [model]);
  const last = model.last.value;
  for (const record of model.history.slice(lanes.last + 1)) lanes.add(record);
  const { record, isLive, current } = model.moment.value;
  const playing = useSignal(false);
  const speed = useSignal(1);

  const show = (to: number | undefined): void => {
    const next = to === undefined || to >= model.history.last ? undefined : Math.max(0, to);
    model.at.value = next;
  };

  const painter = useRef<TimelinePainter | undefined>(undefined);
  const points = useMemo(
    () => model.forkPoints.value.map((point) => point.record),
    [model.forkPoints.value],
  );
  const draw = useRef<() => void>(() => undefined);
  draw.current = () => {
    const theme = `${settings.value.theme} ${matchMedia('(prefers-color-scheme: dark)').matches}`;
    painter.current?.draw({ lanes, last, record, isLive, points }, theme);
  };
  useEffect(() => {
    if (canvas.current !== null) painter.current ??= new TimelinePainter(canvas.current);
    draw.current();
  }, [last, record, isLive, lanes, points, settings.value.theme]);
  useEffect(() => {
    if (canvas.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry === undefined) return;
      painter.current?.resize(entry.contentRect.width, entry.contentRect.height);
      draw.current();
    });
    observer.observe(canvas.current);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const onScheme = (): void => draw.current();
    scheme.addEventListener('change', onScheme);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', onScheme);
    };
  }, []);

  useEffect(() => {
    if (!playing.value) return undefined;
    const timer = setInterval(
      () => {
        const from = model.at.value;
        if (from === undefined) playing.value = false;
        else show(from + 1);
      },
      1000 / (RECORDS_PER_SECOND * speed.value),
    );
    return () => clearInterval(timer);
  }, [playing.value, speed.value]);

  const play = (): void => {
    if (!playing.value && model.at.value === undefined) show(0);
    playing.value = !playing.value;
  };
  const keys = (event: KeyboardEvent): void => {
    const to = findTarget(event, model, lanes);
    if (event.key === ' ') play();
    else if (to === 'live') show(undefined);
    else if (to === undefined) return;
    else show(to);
    event.preventDefault();
  };
  const drag = (event: PointerEvent): void => {
    const element = canvas.current;
    if (element === null) return;
    const { left, width } = element.getBoundingClientRect();
    const move = ({ clientX }: { readonly clientX: number }): void => {
      show(Math.round(((clientX - left - 8) / (width - 16)) * model.history.last));
    };
    move(event);
    const up = (): void => {
      removeEventListener('pointermove', move);
      removeEventListener('pointerup', up);
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', up);
  };

  const text = describeRecord(current);
  return (
    <section class="timeline" aria-label="Timeline">
      <div class="timeline-controls">
        <button
          type="button"
          class="icon-button"
          aria-label="To the beginning"
          onClick={() => show(0)}
        >
          <Icon name="first" />
        </button>
        <PlayerButtons
          unit="record"
          at={record}
          last={last}
          playing={playing}
          onShow={show}
          onPlay={play}
        />
        <select
          class="small"
          aria-label="Speed"
          value={speed.value}
          onChange={({ currentTarget }) => (speed.value = Number(currentTarget.value))}
        >
          {SPEEDS.map((one) => (
            <option key={one} value={one}>
              {one}×
            </option>
          ))}
        </select>
        <button
          type="button"
          class={`button small live-button${isLive ? ' is-live' : ''}`}
          aria-pressed={isLive}
          onClick={() => show(undefined)}
        >
          <Icon name="live" /> Live
        </button>
        <p class="timeline-text">
          <strong>
            {record} <span class="muted">of {last}</span>
          </strong>
          <span class="mono">{text}</span>
          {current !== undefined && <span class="muted nowrap">{formatTime(current.at)}</span>}
        </p>
      </div>
      <canvas
        ref={canvas}
        class="timeline-canvas"
        role="slider"
        tabIndex={0}
        aria-label="Record that is shown"
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={record}
        aria-valuetext={`record ${record}, ${text}`}
        onKeyDown={keys}
        onPointerDown={drag}
      />
    </section>
  );
}

/** The record that a key leads to. */
function findTarget(
  { key, shiftKey, altKey }: KeyboardEvent,
  model: SessionModel,
  lanes: TimelineLanes,
): number | 'live' | undefined {
  const { history } = model;
  const { record } = model.moment.value;
  if (key === 'Home') return 0;
  if (key === 'End') return 'live';
  if (key === 'PageUp') return record - 100;
  if (key === 'PageDown') return record + 100;
  const back = key === 'ArrowLeft' || key === 'ArrowDown';
  if (!back && key !== 'ArrowRight' && key !== 'ArrowUp') return undefined;
  if (altKey) {
    return back
      ? (lanes.turns.findLast((turn) => turn < record) ?? 0)
      : (lanes.turns.find((turn) => turn > record) ?? 'live');
  }
  if (!shiftKey) return back ? record - 1 : record + 1;
  if (!back) return history.endOfStep(record + 1);
  const step = history.step(record);
  let target = record - 1;
  while (target > 0 && history.step(target) === step) target--;
  return target;
}
