package cli

import _ "time/tzdata" // for machines without a database of zones: Windows, and the image
