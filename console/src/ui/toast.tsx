import { signal } from '@preact/signals';
import type { JSX } from 'preact';

interface Toast {
  readonly id: number;
  readonly tone: 'quiet' | 'bad';
  readonly text: string;
}

const toasts = signal<readonly Toast[]>([]);
let nextId = 1;

const SHOWN_MS = 8000;

/** Shows a line for a few seconds. */
export function showToast(text: string, tone: Toast['tone'] = 'quiet'): void {
  const id = nextId++;
  toasts.value = [...toasts.value, { id, tone, text }];
  setTimeout(() => {
    toasts.value = toasts.value.filter((toast) => toast.id !== id);
  }, SHOWN_MS);
}

/** Runs an action of a person. If it fails, a line says why. */
export function act(run: () => Promise<unknown>): void {
  run().catch((error: unknown) => {
    showToast(error instanceof Error ? error.message : String(error), 'bad');
  });
}

/** The lines, where screen readers hear them. */
export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, tone, text }) => (
        <p key={id} class={`toast toast-${tone}`}>
          {text}
        </p>
      ))}
    </div>
  );
}
