import { PetrichorError } from '../../core/index.ts';

/**
 * There is no schedule with this id.
 * @remedy List the schedules, and use one of their ids.
 */
export class ScheduleNotFoundError extends PetrichorError {
  override readonly code = 'schedule_not_found' as const;
  readonly scheduleId: string;

  constructor(scheduleId: string) {
    super(`There is no schedule "${scheduleId}". List the schedules to see their ids.`);
    this.scheduleId = scheduleId;
  }
}

/**
 * A schedule with this id exists and has another definition. Nothing was changed.
 * @remedy Use another id, or delete the schedule first.
 */
export class ScheduleExistsError extends PetrichorError {
  override readonly code = 'schedule_exists' as const;
  readonly scheduleId: string;

  constructor(scheduleId: string, field: string) {
    super(
      `A schedule "${scheduleId}" exists with another ${field}. Use another id, or delete the schedule first.`,
    );
    this.scheduleId = scheduleId;
  }
}
