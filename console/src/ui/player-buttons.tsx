import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { Icon } from './icon.tsx';

export interface PlayerButtonsProps {
  /** What is played: `record` or `step`. */
  readonly unit: string;
  readonly at: number;
  readonly last: number;
  readonly playing: Signal<boolean>;
  readonly onShow: (at: number) => void;
  readonly onPlay: () => void;
}

/** One back, play or stop, and one forward. */
export function PlayerButtons({
  unit,
  at,
  last,
  playing,
  onShow,
  onPlay,
}: PlayerButtonsProps): JSX.Element {
  return (
    <>
      <button
        type="button"
        class="icon-button"
        aria-label={`One ${unit} back`}
        disabled={at === 0}
        onClick={() => onShow(at - 1)}
      >
        <Icon name="previous" />
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label={playing.value ? 'Stop' : 'Play'}
        onClick={onPlay}
      >
        <Icon name={playing.value ? 'pause' : 'play'} />
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label={`One ${unit} forward`}
        disabled={at === last}
        onClick={() => onShow(at + 1)}
      >
        <Icon name="next" />
      </button>
    </>
  );
}
