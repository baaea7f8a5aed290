package cli

import _ "time/tzdata" // Windows has no database of zones
