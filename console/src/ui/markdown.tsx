import DOMPurify from 'dompurify';
import { Marked } from 'marked';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { redact } from './format.ts';

const marked = new Marked({
  gfm: true,
  breaks: true,
  async: false,
  // HTML is shown as it was written. So the sanitizer below finds nothing, unless there is a fault above it.
  renderer: { html: ({ text }) => escapeHtml(text) },
});

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Elements that a text of a model may have. Nothing of it loads, runs, submits or has a style. */
const ALLOWED = {
  ALLOWED_TAGS: (
    'a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i li ol p pre s strong sub sup ' +
    'table tbody td th thead tr ul'
  ).split(' '),
  ALLOWED_ATTR: ['href', 'start', 'align', 'title'],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** Returns Markdown as elements that are safe to show. An image becomes a link: showing it would load it. */
export function toSafeElements(text: string): DocumentFragment {
  const html = marked.parse(text.replaceAll(/!\[([^\]]*)\]\(([^)\s]*)[^)]*\)/g, '[$1]($2)'));
  const fragment = DOMPurify.sanitize(typeof html === 'string' ? html : '', {
    ...ALLOWED,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of fragment.querySelectorAll('a')) {
    link.setAttribute('rel', 'noopener noreferrer nofollow');
    link.setAttribute('target', '_blank');
  }
  return fragment;
}

/**
 * Makes the children of a node equal to those of a fresh one, and keeps the equal ones: an answer that grows is laid out
 * where it grows.
 */
export function patchChildren(node: Node, fresh: Node): void {
  const wanted = [...fresh.childNodes];
  for (const [index, child] of wanted.entries()) {
    const old = node.childNodes[index];
    if (old === undefined) node.appendChild(child);
    else if (isSameElement(old, child)) patchChildren(old, child);
    else if (!old.isEqualNode(child)) node.replaceChild(child, old);
  }
  while (node.childNodes.length > wanted.length) node.lastChild?.remove();
}

function isSameElement(one: Node, other: Node): boolean {
  return one instanceof Element && one.cloneNode(false).isEqualNode(other.cloneNode(false));
}

/** Shows Markdown that a model, a tool or a person wrote. */
export function Markdown({ text }: { readonly text: string }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const shown = redact(text);
  useLayoutEffect(() => {
    // The sanitized elements themselves: as text they would be parsed once more, into something else.
    if (box.current !== null) patchChildren(box.current, toSafeElements(shown));
  }, [shown]);
  return <div class="markdown" ref={box} />;
}
