import type { Rule } from './rules.ts';

/** Something that only some modules may do. */
export interface ListedModules {
  /** True for code that does it. Comments are removed. */
  readonly does: (code: string) => boolean;
  /** What such a module does, after its path. */
  readonly what: string;
  /** What to do instead. */
  readonly instead: string;
}

/** Only the listed modules do it, and each listed module does. */
export const onlyListedModules =
  ({ does, what, instead }: ListedModules) =>
  (listed: Readonly<Record<string, string>>): Rule =>
  ({ files, modules }) => {
    const comments = new Map(modules.map((module) => [module.path, module.comments]));
    const doing = files
      .filter(({ path }) => /^src\/.*(?<!\.test)\.ts$/.test(path))
      .filter(({ path, text }) =>
        does((comments.get(path) ?? []).reduce((rest, comment) => rest.replace(comment, ''), text)),
      )
      .map(({ path }) => path);
    return [
      ...doing
        .filter((path) => !(path in listed))
        .map((path) => `${path} ${what}: ${instead}, or list it`),
      ...Object.keys(listed)
        .filter((path) => !doing.includes(path))
        .map((path) => `${path} is listed, and no module that ${what}`),
    ];
  };
