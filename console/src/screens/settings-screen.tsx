import type { JSX } from 'preact';
import { config } from '../state/connection.ts';
import { changeSettings, settings } from '../state/settings.ts';
import type { Settings } from '../state/settings.ts';
import { PriceSettings } from './price-settings.tsx';

/** How the console looks, which server it reads, and what it hides. */
export function SettingsScreen(): JSX.Element {
  const current = settings.value;
  return (
    <section class="screen">
      <header class="screen-head">
        <h1>Settings</h1>
      </header>
      <div class="sections">
        <form class="section narrow form" onSubmit={(event) => event.preventDefault()}>
          <h2>Server</h2>
          <label>
            Address
            <input type="url" readOnly value={config.value.server} />
          </label>
          <label>
            Key
            <input
              type="password"
              autocomplete="off"
              value={current.key}
              onChange={({ currentTarget }) => changeSettings({ key: currentTarget.value.trim() })}
            />
          </label>
          <Check
            text="Remember the key on this machine"
            value={current.remember}
            onChange={(remember) => changeSettings({ remember })}
          />
          <Check
            text="Read only: the console sends nothing that changes a session"
            value={current.readOnly || config.value.readOnly}
            isFixed={config.value.readOnly}
            onChange={(readOnly) => changeSettings({ readOnly })}
          />
        </form>
        <form class="section narrow form" onSubmit={(event) => event.preventDefault()}>
          <h2>Display</h2>
          <label>
            Theme
            <select
              value={current.theme}
              onChange={({ currentTarget: { value } }) => changeSettings({ theme: toTheme(value) })}
            >
              <option value="system">As the system</option>
              <option value="light">Light</option>
              <option value="dark">Dark</option>
            </select>
          </label>
          <label>
            Times
            <select
              value={current.times}
              onChange={({ currentTarget: { value } }) =>
                changeSettings({ times: value === 'utc' ? 'utc' : 'local' })
              }
            >
              <option value="local">In the zone of this machine</option>
              <option value="utc">UTC</option>
            </select>
          </label>
        </form>
        <PriceSettings />
        <form class="section narrow form" onSubmit={(event) => event.preventDefault()}>
          <h2>Redaction</h2>
          <label>
            Regular expressions, one a line
            <textarea
              class="mono"
              rows={3}
              placeholder={'\\b\\d{16}\\b'}
              value={current.redact.join('\n')}
              onChange={({ currentTarget }) =>
                changeSettings({ redact: currentTarget.value.split('\n').filter(Boolean) })
              }
            />
          </label>
          <p class="muted">What they match is shown as █████, here and in exports.</p>
          {current.redact.filter(isInvalid).map((pattern) => (
            <p key={pattern} class="bad">
              <code>{pattern}</code> is not a regular expression.
            </p>
          ))}
        </form>
      </div>
    </section>
  );
}

function Check({
  text,
  value,
  isFixed = false,
  onChange,
}: {
  readonly text: string;
  readonly value: boolean;
  readonly isFixed?: boolean;
  readonly onChange: (to: boolean) => void;
}): JSX.Element {
  return (
    <label class="inline">
      <input
        type="checkbox"
        checked={value}
        disabled={isFixed}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      {text}
    </label>
  );
}

function toTheme(value: string): Settings['theme'] {
  return value === 'light' || value === 'dark' ? value : 'system';
}

function isInvalid(pattern: string): boolean {
  try {
    return new RegExp(pattern).source === '';
  } catch {
    return true;
  }
}
