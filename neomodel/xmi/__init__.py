"""Files of Ecore and XMI, read and written as streams."""
