import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

export interface TabsProps<T extends string> {
  readonly label: string;
  readonly tabs: readonly T[];
  readonly chosen: T;
  readonly onChoose: (tab: T) => void;
}

/** A row of tabs. Arrow keys move between them. */
export function Tabs<T extends string>({
  label,
  tabs,
  chosen,
  onChoose,
}: TabsProps<T>): JSX.Element {
  const row = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(chosen) + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChoose(next);
    const button = row.current?.querySelector(`[data-tab="${CSS.escape(next)}"]`);
    if (button instanceof HTMLElement) button.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={row} onKeyDown={onKeyDown}>
      {tabs.map((tab) => (
        <button
          key={tab}
          type="button"
          role="tab"
          data-tab={tab}
          aria-selected={tab === chosen}
          tabIndex={tab === chosen ? 0 : -1}
          onClick={() => onChoose(tab)}
        >
          {tab}
        </button>
      ))}
    </div>
  );
}
