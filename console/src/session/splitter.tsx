import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const LEAST = 220;
const MOST = 760;
const STEP = 24;
const DEFAULTS: Readonly<Record<string, number>> = { chat: 400, inspector: 330 };

/** A line between two panes that a person can move. The width is kept on this machine. */
export function Splitter({
  name,
  label,
  isReversed = false,
}: {
  readonly name: 'chat' | 'inspector';
  readonly label: string;
  /** True: the pane is on the right of the line. */
  readonly isReversed?: boolean;
}): JSX.Element {
  const [width, setWidth] = useState(() => readWidth(name));
  useEffect(() => {
    document.documentElement.style.setProperty(`--${name}-width`, `${width}px`);
    try {
      localStorage.setItem(`petrichor-width-${name}`, String(width));
    } catch {
      // The browser stores nothing.
    }
  }, [width, name]);
  const change = (by: number): void =>
    setWidth((before) => Math.min(MOST, Math.max(LEAST, before + (isReversed ? -by : by))));
  return (
    <div
      class="splitter"
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      aria-valuenow={width}
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.key === 'ArrowLeft') change(-STEP);
        else if (event.key === 'ArrowRight') change(STEP);
        else return;
        event.preventDefault();
      }}
      onPointerDown={(down) => {
        down.preventDefault();
        let last = down.clientX;
        const move = ({ clientX }: PointerEvent): void => {
          change(clientX - last);
          last = clientX;
        };
        const up = (): void => {
          removeEventListener('pointermove', move);
          removeEventListener('pointerup', up);
        };
        addEventListener('pointermove', move);
        addEventListener('pointerup', up);
      }}
    />
  );
}

function readWidth(name: string): number {
  try {
    const stored = Number(localStorage.getItem(`petrichor-width-${name}`));
    if (stored >= LEAST && stored <= MOST) return stored;
  } catch {
    // The browser stores nothing.
  }
  return DEFAULTS[name] ?? LEAST;
}
