import type { JSX } from 'preact';
import { route, setQuery } from '../state/route.ts';
import { Icon } from './icon.tsx';

/** The search of a screen. Its text is the parameter `q` of the address. */
export function SearchField({
  label,
  placeholder,
}: {
  readonly label: string;
  readonly placeholder: string;
}): JSX.Element {
  return (
    <label class="search">
      <Icon name="search" />
      <span class="visually-hidden">{label}</span>
      <input
        type="search"
        placeholder={placeholder}
        value={route.value.query.get('q') ?? ''}
        data-shortcut="search"
        onInput={({ currentTarget }) => setQuery({ q: currentTarget.value || undefined })}
      />
    </label>
  );
}
