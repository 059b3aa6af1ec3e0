import type { JSX } from 'preact';
import type { EventBlock } from '../api/types.ts';
import { redact } from '../ui/format.ts';
import { JsonView } from '../ui/json-view.tsx';

/** Image types that a browser shows without running anything. */
const SAFE_IMAGE = /^image\/(?:png|jpeg|gif|webp|avif)$/;

/** The blocks of a message or of a result. */
export function Blocks({ blocks }: { readonly blocks: readonly EventBlock[] }): JSX.Element {
  return (
    <>
      {blocks.map((block, index) => (
        <Block key={index} block={block} />
      ))}
    </>
  );
}

function Block({ block }: { readonly block: EventBlock }): JSX.Element {
  if (block.type === 'text') return <TextBlock text={block.text} />;
  const { source } = block;
  if (source.type === 'base64' && block.type === 'image' && SAFE_IMAGE.test(source.media_type))
    return (
      <img
        class="block-image"
        alt="Attached"
        src={`data:${source.media_type};base64,${source.data}`}
      />
    );
  // Showing an address would load it: a model could report what it knows that way.
  const name =
    source.type === 'url'
      ? source.url
      : source.type === 'file'
        ? source.file_id
        : source.media_type;
  return <p class="attachment mono">{redact(`${block.type}: ${name}`)}</p>;
}

/** A text that is JSON is shown as a tree. */
function TextBlock({ text }: { readonly text: string }): JSX.Element {
  const value = parseObject(text);
  return value === undefined ? (
    <pre class="result-text">{redact(text)}</pre>
  ) : (
    <JsonView value={value} open={2} />
  );
}

function parseObject(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
