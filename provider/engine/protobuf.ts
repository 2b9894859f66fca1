import { malformed } from "./grpc";
import { Reader, type WireType, Writer, wireTypes } from "./wire-format";

/** Type of a field: its default, and functions that read it and write it (backwards: the value, then the tag). */
export interface Field<Value> {
  readonly number: number;
  readonly type: WireType;
  /** Returns the value of an absent field. */
  defaultValue(): Value;
  /** Reads the value; `previous` is the value of an earlier occurrence of the field. */
  read(reader: Reader, previous: Value): Value;
  write(writer: Writer, value: Value): void;
}

type Fields = Readonly<Record<string, Field<unknown>>>;
type Values<MessageFields extends Fields> = {
  [Name in keyof MessageFields]: MessageFields[Name] extends Field<infer Value> ? Value : never;
};

/** Message of the protocol, defined by a table of its fields. Unknown fields are skipped. */
export interface Message<Value> {
  decode(bytes: Buffer): Value;
  encode(value: Partial<Value>): Buffer;
  /** Decodes the message as part of another message. */
  readFrom(reader: Reader): Value;
  /** Encodes the message as part of another message. */
  writeTo(writer: Writer, value: Partial<Value>): void;
}

/** Defines a message by its fields. */
export function message<const MessageFields extends Fields>(fields: MessageFields): Message<Values<MessageFields>> {
  const entries = Object.entries(fields);
  const fieldsByTag = new Map(entries.map(([name, field]) => [field.number * 8 + field.type, { name, field }]));
  /** Returns true if every field has a value; each value was read by the field of that name. */
  const isComplete = (values: Record<string, unknown>): values is Values<MessageFields> =>
    entries.every(([name]) => name in values);
  const readFrom = (reader: Reader): Values<MessageFields> => {
    const values: Record<string, unknown> = {};
    for (const [name, field] of entries) values[name] = field.defaultValue();
    while (!reader.done) {
      const tag = reader.varint();
      const entry = fieldsByTag.get(tag);
      if (entry) values[entry.name] = entry.field.read(reader, values[entry.name]);
      else if (tag < 8) throw malformed("a field has no number");
      else reader.skip(tag);
    }
    if (!isComplete(values)) throw malformed("a field is missing");
    return values;
  };
  const writeTo = (writer: Writer, values: Partial<Values<MessageFields>>): void => {
    for (const [name, field] of entries.toReversed()) {
      const value: unknown = values[name];
      if (value !== undefined) field.write(writer, value);
    }
  };
  return {
    readFrom,
    writeTo,
    decode: (bytes) => readFrom(new Reader(bytes)),
    encode: (values) => {
      const writer = new Writer();
      writeTo(writer, values);
      return writer.finish();
    },
  };
}

/** Field with a single value, which is omitted if it equals `defaultValue`. */
function single<Value>(
  number: number,
  type: WireType,
  defaultValue: Value,
  read: (reader: Reader) => Value,
  write: (writer: Writer, value: Value) => void,
): Field<Value> {
  return {
    number,
    type,
    read,
    defaultValue: () => defaultValue,
    write: (writer, value) => {
      if (value === defaultValue) return;
      write(writer, value);
      writer.tag(number, type);
    },
  };
}

/** String field. */
export const text = (number: number): Field<string> =>
  single(
    number,
    wireTypes.sized,
    "",
    (reader) => reader.text(),
    (writer, value) => writer.text(value),
  );

/** Boolean field. */
export const flag = (number: number): Field<boolean> =>
  single(
    number,
    wireTypes.varint,
    false,
    (reader) => reader.varint() !== 0,
    (writer, value) => writer.varint(value ? 1 : 0),
  );

/** Boolean field that distinguishes absent from false. */
export const optionalFlag = (number: number): Field<boolean | undefined> =>
  single<boolean | undefined>(
    number,
    wireTypes.varint,
    undefined,
    (reader) => reader.varint() !== 0,
    (writer, value) => writer.varint(value ? 1 : 0),
  );

/** Field with an integer, 0 or more, or a value of an enumeration. */
export const count = (number: number): Field<number> =>
  single(
    number,
    wireTypes.varint,
    0,
    (reader) => reader.varint(),
    (writer, value) => writer.varint(value),
  );

/** Floating-point field. */
export const double = (number: number): Field<number> =>
  single(
    number,
    wireTypes.fixed64,
    0,
    (reader) => reader.double(),
    (writer, value) => writer.double(value),
  );

/** Field with bytes; undefined if absent. */
export const bytes = (number: number): Field<Uint8Array | undefined> =>
  single<Uint8Array | undefined>(
    number,
    wireTypes.sized,
    undefined,
    (reader) => reader.bytes(),
    (writer, value) => value && writer.bytes(value),
  );

/** Field with a nested message; undefined if absent. */
export const nested = <Value>(
  number: number,
  of: Pick<Message<Value>, "readFrom" | "writeTo">,
): Field<Value | undefined> =>
  single<Value | undefined>(
    number,
    wireTypes.sized,
    undefined,
    (reader) => of.readFrom(reader.nested()),
    (writer, value) => {
      const before = writer.size;
      if (value !== undefined) of.writeTo(writer, value);
      writer.length(before);
    },
  );

/** Field that can occur any number of times. */
export function repeated<Value>(field: Field<Value>): Field<Exclude<Value, undefined>[]> {
  const isPresent = (value: Value): value is Exclude<Value, undefined> => value !== undefined;
  return {
    number: field.number,
    type: field.type,
    defaultValue: () => [],
    read: (reader, before) => {
      const value = field.read(reader, field.defaultValue());
      return isPresent(value) ? [...before, value] : before;
    },
    write: (writer, values) => {
      for (const value of values.toReversed()) {
        const before = writer.size;
        field.write(writer, value);
        // A list also contains its empty values.
        if (writer.size === before) {
          writer.varint(0);
          writer.tag(field.number, field.type);
        }
      }
    },
  };
}

/** Field with a map from strings to messages. */
export function map<Value>(number: number, of: Message<Value>): Field<Map<string, Value>> {
  const entry = message({ key: text(1), value: nested(2, of) });
  return {
    number,
    type: wireTypes.sized,
    defaultValue: () => new Map(),
    read: (reader, before) => {
      const { key, value = of.readFrom(new Reader(Buffer.alloc(0))) } = entry.readFrom(reader.nested());
      return new Map([...before, [key, value]]);
    },
    write: (writer, values) => {
      for (const [key, value] of [...values].toReversed()) {
        const before = writer.size;
        entry.writeTo(writer, { key, value });
        writer.length(before);
        writer.tag(number, wireTypes.sized);
      }
    },
  };
}
