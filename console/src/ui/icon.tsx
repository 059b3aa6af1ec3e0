import type { JSX } from 'preact';

/** Paths in a box of 20 by 20, drawn as lines. */
const PATHS = {
  sessions: 'M3 5h14M3 10h14M3 15h9',
  inbox: 'M3 11l2.500-6.500h9L17 11v4.500H3zM3 11h4l1 2h4l1-2h4',
  agents:
    'M10 3v2.500M6 5.500h8a2 2 0 0 1 2 2V13a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2V7.500a2 2 0 0 1 2-2zM7.500 9.500v1.500M12.500 9.500v1.500M7 17.500h6',
  proofs:
    'M10 2.500l6 2.200v4.600c0 3.700-2.500 6.700-6 8.200-3.500-1.500-6-4.500-6-8.200V4.700zM7.200 10l2 2 3.600-4',
  schedules: 'M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM10 6v4l3 2',
  traces: 'M3 4.500h7M6 10h8M9 15.500h8',
  usage: 'M4 16.500V11M8 16.500V5M12 16.500V8.500M16 16.500V3.500',
  quotas: 'M3.500 14a6.500 6.500 0 1 1 13 0M10 14l3.500-4.500M3.500 14h2M14.500 14h2',
  settings:
    'M10 7.200a2.800 2.800 0 1 1 0 5.600 2.800 2.800 0 0 1 0-5.600zM10 2.500v2M10 15.500v2M2.500 10h2M15.500 10h2M4.700 4.700l1.400 1.400M13.900 13.900l1.400 1.400M4.700 15.300l1.400-1.400M13.900 6.100l1.400-1.400',
  send: 'M10 16V4M5 9l5-5 5 5',
  stop: 'M6 6h8v8H6z',
  fork: 'M6 3.500v13M6 12c5 0 8-1.500 8-6.500M11 8l3-3 3 3',
  rewind: 'M4 9a6.500 6.500 0 1 1 1 5M4 4v5h5',
  check: 'M4.500 10.500l3.500 3.500 7.500-8',
  close: 'M5 5l10 10M15 5L5 15',
  plus: 'M10 4v12M4 10h12',
  chevron: 'M7.500 5l5 5-5 5',
  play: 'M6.500 4.500l9 5.500-9 5.500z',
  pause: 'M7 5v10M13 5v10',
  first: 'M5 5v10M15 5l-7 5 7 5z',
  previous: 'M12.500 5l-5 5 5 5',
  next: 'M7.500 5l5 5-5 5',
  live: 'M10 7.500a2.500 2.500 0 1 1 0 5 2.500 2.500 0 0 1 0-5zM5.200 5.200a6.800 6.800 0 0 0 0 9.600M14.800 5.200a6.800 6.800 0 0 1 0 9.600',
  search: 'M9 4a5 5 0 1 1 0 10A5 5 0 0 1 9 4zM12.800 12.800L16.500 16.500',
  tool: 'M12.500 3.500a4 4 0 0 0-4.700 5.200L3.500 13l3.500 3.500 4.300-4.300a4 4 0 0 0 5.200-4.700L14 10l-3-1-1-3z',
  download: 'M10 3.500V12M6.500 9l3.500 3.500L13.500 9M4 16.500h12',
  upload: 'M10 13V4M6.500 7.500L10 4l3.500 3.500M4 16.500h12',
  archive: 'M3.500 4h13v3.500h-13zM5 7.500v8.500h10V7.500M8.500 10.500h3',
  trash: 'M4 6h12M8 6V4h4v2M6 6l.700 10.500h6.600L14 6',
  compare: 'M3.500 4h5v12h-5zM11.500 4h5v12h-5z',
  fit: 'M4 7.500V4h3.500M16 7.500V4h-3.500M4 12.500V16h3.500M16 12.500V16h-3.500',
  table: 'M3.500 4.500h13v11h-13zM3.500 8.500h13M9 8.500v7',
  net: 'M5 7.500a2 2 0 1 1 0-4 2 2 0 0 1 0 4zM15 16.500a2 2 0 1 1 0-4 2 2 0 0 1 0 4zM7 5.500h4v4M13 14.500H9v-5h3v-2',
  copy: 'M7.500 7.500h8v8h-8zM12.500 7.500v-3h-8v8h3',
  attach:
    'M14.500 9l-5 5a3 3 0 0 1-4.300-4.300l5.800-5.700a2 2 0 0 1 2.900 2.900l-5.600 5.600a1 1 0 0 1-1.400-1.400l5-5',
  help: 'M7.500 7.500a2.500 2.500 0 1 1 3.500 2.300c-.700.300-1 .800-1 1.700M10 14.500v.100',
} as const;

export type IconName = keyof typeof PATHS;

/** A line drawing beside a text. Without a text, its button needs a label. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
