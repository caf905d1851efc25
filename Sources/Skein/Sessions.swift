// Sessions, schemas, tools and adapters for programs: a part of this library, in a room of its own.
@_exported import SkeinSessions
