import { computed, signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';

/** The address of what is shown: the segments of the path below the mount, and the query. */
export interface Route {
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

/** The query of an address. A value of undefined removes a parameter. */
export type RouteQuery = Readonly<Record<string, string | number | undefined>>;

const href = signal(globalThis.location?.href ?? 'http://localhost/');

/** Where the server mounts the console. Every address of the console is below it. */
function mountPath(): string {
  return new URL('.', document.baseURI).pathname;
}

/** What the address bar shows. */
export const route: ReadonlySignal<Route> = computed(() => {
  const { pathname, searchParams } = new URL(href.value);
  const mount = mountPath();
  const below = pathname.startsWith(mount) ? pathname.slice(mount.length) : '';
  return { segments: below.split('/').filter(Boolean).map(decodeSegment), query: searchParams };
});

/** Returns the address of a screen. */
export function toHref(segments: readonly string[], query: RouteQuery = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  const path = segments.map(encodeSegment).join('/');
  return `${mountPath()}${path}${text === '' ? '' : `?${text}`}`;
}

/** Shows another address, and keeps the one before it in the history. */
export function navigate(to: string): void {
  history.pushState(null, '', to);
  href.value = location.href;
}

/** Changes parameters of the query. It makes no entry in the history. */
export function setQuery(changes: RouteQuery): void {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, String(value));
  }
  if (url.href === location.href) return;
  history.replaceState(null, '', url);
  href.value = url.href;
}

/** Follows the buttons of the browser, and links to addresses of the console. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    href.value = location.href;
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
    if (!(link instanceof HTMLAnchorElement) || link.target !== '' || link.download !== '') return;
    const to = new URL(link.href);
    if (to.origin !== location.origin || !to.pathname.startsWith(mountPath())) return;
    event.preventDefault();
    navigate(to.href);
  });
}

/** The server takes a last segment with a dot for the name of a file. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replaceAll('.', '%2E');
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
