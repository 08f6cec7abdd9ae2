/** A form with errors at its fields: those that the page finds, then those of the service. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiError } from './api.ts';
import type { FieldErrors } from './model/schedule-form.ts';
import { useRequest } from './use-request.ts';

export interface FormState<F> {
  readonly form: F;
  readonly change: (form: F) => void;
  readonly errors: FieldErrors;
  /** The error of the service. */
  readonly error: ApiError | null;
  readonly isBusy: boolean;
  readonly submit: (event: Event) => void;
  readonly element: { current: HTMLFormElement | null };
}

export function useForm<F>(
  first: F,
  check: (form: F) => FieldErrors,
  send: (form: F) => Promise<unknown>,
): FormState<F> {
  const [form, setForm] = useState(first);
  const [invalid, setInvalid] = useState<FieldErrors>({});
  const element = useRef<HTMLFormElement>(null);
  const request = useRequest(() => send(form));
  const refusal = request.error;
  const errors =
    refusal === null || refusal.param === null ? invalid : { ...invalid, [refusal.param]: refusal.message };
  const errorNames = Object.keys(errors).join(' ');
  useEffect(() => {
    if (errorNames !== '') element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [errorNames, refusal]);
  return {
    form,
    change: (next) => {
      setForm(next);
      setInvalid({});
      request.clear();
    },
    errors,
    error: refusal,
    isBusy: request.isBusy,
    submit: (event) => {
      event.preventDefault();
      const wrong = check(form);
      setInvalid(wrong);
      if (Object.keys(wrong).length === 0) void request.run();
    },
    element,
  };
}
