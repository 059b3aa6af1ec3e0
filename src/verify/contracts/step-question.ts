import { omitUndefined } from '../../core/internal.ts';
import type { ChildActivity } from './child-activity.ts';
import { leaveOpen } from './decision.ts';
import type { Decision } from './decision.ts';
import type { PartViews, Searched } from './part-views.ts';
import type { NetPart } from './net-parts.ts';
import type { View, ViewStep } from './view.ts';
import { listPlace as list } from './view-events.ts';
import type { ViewMonitor } from './view-search.ts';

/** A question about the steps of several components. */
export interface StepQuestion {
  readonly about: readonly unknown[];
  /** The transitions whose firings it counts, wherever they happen. */
  readonly counted: ReadonlySet<number>;
  /** A transition that must come first, whose firings it counts, too. */
  readonly first?: number | undefined;
  /** More names of a step that the view of a part watches. */
  readonly watch: (part: NetPart, step: ViewStep) => readonly string[];
  readonly tracked?: readonly number[];
  /** Places whose tokens its monitor looks at, if the view of a part has them. */
  readonly apart: readonly number[];
  /** The monitor of the view of a part that answers the question. */
  readonly answers: (part: NetPart, view: View) => ViewMonitor;
  /** The monitor of the view of a part that is below the one that answers the question. */
  readonly below: (part: NetPart, view: View) => ViewMonitor;
}

/** Decides a question in the first view that answers it: of the least part with all counted steps, or of one above. */
export function decideSteps(views: PartViews, question: StepQuestion): Decision {
  const parts = views.parts.filter((part) =>
    [...question.counted, ...list(question.first)].every((t) => part.inside.has(t)),
  );
  let states = 0;
  let reason = '';
  for (const part of parts) {
    const decision = answerInPart(views, part, question);
    if (decision.holds) return { holds: true, states: states + decision.states };
    reason = decision.reason;
  }
  return leaveOpen(reason);
}

/** Answers a question in the view of one part. */
export function answerInPart(views: PartViews, part: NetPart, question: StepQuestion): Decision {
  const { counted, first } = question;
  let states = 0;
  const search = (one: NetPart, isAnswer: boolean): Searched | undefined => {
    const activities = new Map<NetPart, ChildActivity>();
    for (const child of one.children) {
      if (![...counted, ...list(first)].some((t) => child.inside.has(t))) continue;
      const below = search(child, false);
      if (below === undefined || below.outcome.problem !== undefined) return below;
      const { firesIn, mostMemory: cost } = below.outcome;
      activities.set(child, { firesIn, cost });
    }
    const view = views.view(one, {
      watch: (step) => [
        ...(step.begins && counted.has(step.t) ? ['counted'] : []),
        ...(step.begins && first === step.t ? ['counted first'] : []),
        ...question.watch(one, step),
      ],
      apart: question.apart,
      activities,
      ...omitUndefined({ tracked: question.tracked }),
    });
    const { positions } = views.layout(one, question.apart);
    const asked = question.apart.flatMap((place) => positions.get(place) ?? []);
    const about = JSON.stringify([...question.about, isAnswer, asked]);
    const monitor = (isAnswer ? question.answers : question.below)(one, view);
    const searched = views.search(one, view, about, { asked, monitor });
    if (searched.component === one.name) states += searched.outcome.states;
    return searched;
  };
  const searched = search(part, true);
  if (searched === undefined) return leaveOpen('a view of a component was not searched');
  const { problem } = searched.outcome;
  return problem === undefined ? { holds: true, states } : leaveOpen(problem);
}
