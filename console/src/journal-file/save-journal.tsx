import type { JSX } from 'preact';
import { client } from '../state/connection.ts';
import { settings } from '../state/settings.ts';
import { redact } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { act } from '../ui/toast.tsx';

/** Saves the journal of a session as a file, with its values or without them. */
export function SaveJournal({ id }: { readonly id: string }): JSX.Element {
  const save = (isRedacted: boolean): void =>
    act(async () => {
      const path = `/v1/sessions/${encodeURIComponent(id)}/journal`;
      const text = await client.value.readText(path, isRedacted ? { redact: '1' } : {});
      saveFile(`${id}${isRedacted ? '.redacted' : ''}.journal.jsonl`, hidePatterns(text));
    });
  return (
    <details class="menu menu-end wide-only">
      <summary class="icon-button" aria-label="Save the journal" title="Save the journal">
        <Icon name="download" />
      </summary>
      <div class="menu-box">
        <button type="button" class="button small" onClick={() => save(false)}>
          Journal
        </button>
        <button type="button" class="button small" onClick={() => save(true)}>
          Journal without values
        </button>
        <p class="muted small-text">
          Without values, texts become their lengths and hashes. Names, times and numbers of tokens
          stay.
        </p>
      </div>
    </details>
  );
}

/** Replaces what the patterns of the settings match in each text of each line. */
function hidePatterns(lines: string): string {
  if (settings.value.redact.length === 0) return lines;
  const hide = (_key: string, value: unknown): unknown =>
    typeof value === 'string' ? redact(value) : value;
  return lines
    .split('\n')
    .map((line) => (line === '' ? '' : JSON.stringify(JSON.parse(line, hide))))
    .join('\n');
}

/** Hands a text to the browser as a file. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replaceAll(/[^\w.-]/g, '_');
  link.click();
  // The browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
