import type { JSX } from 'preact';
import { changeSettings, settings } from '../state/settings.ts';
import { Icon } from '../ui/icon.tsx';
import type { Price } from '../usage/prices.ts';

/** What models cost. Prices change, so the console comes with none. */
export function PriceSettings(): JSX.Element {
  const { prices } = settings.value;
  const change = (index: number, to: Partial<Price>): void =>
    changeSettings({
      prices: prices.map((price, at) => (at === index ? { ...price, ...to } : price)),
    });
  return (
    <form class="section narrow form" onSubmit={(event) => event.preventDefault()}>
      <h2>Prices</h2>
      <p class="muted">
        US dollars for a million tokens. A price counts for all models whose id begins with the
        name. The longest name wins.
      </p>
      {prices.length > 0 && (
        <div class="price-row label-heading" aria-hidden="true">
          <span>Model</span>
          <span>In</span>
          <span>Out</span>
        </div>
      )}
      {prices.map(({ model, input, output }, index) => (
        <div key={index} class="price-row">
          <input
            type="text"
            class="mono"
            aria-label="Model"
            placeholder="claude-sonnet"
            value={model}
            onChange={({ currentTarget }) => change(index, { model: currentTarget.value.trim() })}
          />
          <PriceInput
            label={`Input price of ${model}`}
            value={input}
            onChange={(to) => change(index, { input: to })}
          />
          <PriceInput
            label={`Output price of ${model}`}
            value={output}
            onChange={(to) => change(index, { output: to })}
          />
          <button
            type="button"
            class="icon-button"
            aria-label={`Remove the price of ${model}`}
            onClick={() => changeSettings({ prices: prices.toSpliced(index, 1) })}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <button
        type="button"
        class="button"
        onClick={() => changeSettings({ prices: [...prices, { model: '', input: 0, output: 0 }] })}
      >
        <Icon name="plus" /> Add a price
      </button>
    </form>
  );
}

function PriceInput({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: number;
  readonly onChange: (to: number) => void;
}): JSX.Element {
  return (
    <input
      type="number"
      min={0}
      step="any"
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => {
        const to = currentTarget.valueAsNumber;
        if (Number.isFinite(to) && to >= 0) onChange(to);
      }}
    />
  );
}
